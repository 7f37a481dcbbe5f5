"""The words without which no rule can fire: what lacks all of them need not be read, nor evaluated.

A rule that is about training in general declares none. One that may fire in code that speaks of nothing else, such as a
helper with `torch.load`, declares its own: `@rule(..., words="load")`.
"""

from __future__ import annotations

import re

from trainlint.rules import entries, of_the_rules

_OF_TRAINING = (
    r"backward zero_grad \w*Module \w*PreTrainedModel ModelMixin \w*Loss \w*_loss \w*cross_entropy\w* kl_div "
    r"log_softmax amp autocast DataLoader Accelerator \w*Trainer configure_optimizers "
    "training_step forward eval load_state_dict DataCollatorForLanguageModeling"
)
"""What files say that train or evaluate."""


@of_the_rules
def declared() -> tuple[str, ...]:
    """The words that rules declare, as patterns of names."""
    found = {word for entry in entries() if entry.rule.by != "T" for word in entry.rule.words.split()}
    return tuple(sorted(found))


@of_the_rules
def in_files() -> re.Pattern[bytes]:
    """What a file has to hold that a rule may fire in."""
    words = "|".join((*_OF_TRAINING.split(), *declared()))
    return re.compile(rf"\b(?:{words})\b".encode())


@of_the_rules
def is_declared(name: str) -> bool:
    """Whether a rule may fire in a function for the sake of this name in it."""
    return _declared_name().fullmatch(name) is not None


@of_the_rules
def _declared_name() -> re.Pattern[str]:
    return re.compile("|".join(declared()))
