"""Adapters of peft in models whose inputs are no tokens, and that checkpoint reentrantly."""

import re
from collections.abc import Iterator

from trainlint.facts.api.frameworks import ADAPTED
from trainlint.facts.api.noted import MENDS_INPUTS, RECOMPUTES
from trainlint.facts.ask.freezing import wants_gradients_of_data
from trainlint.facts.ask.loaders import type_of
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value, alternatives, constant
from trainlint.finding import Because, Finding, Place

_NO_TOKENS = re.compile(
    r"transformers\.(?:\w+\.)*(?:AutoModelForImageClassification|WhisperForConditionalGeneration|"
    r"(?:ViT|DeiT|Beit|Dinov2|Dinov2WithRegisters|IJepa|Swin|Swinv2|CLIP|Siglip|Segformer)ForImageClassification|"
    r"(?:CLIP|Siglip)VisionModel|VideoMAEForVideoClassification)(?:\.\w+)?"
)
"""Models whose embeddings transformers and peft do not mend; measured with transformers 5.23 and peft 0.21."""

_TRAINERS = ("transformers.Trainer", "transformers.Seq2SeqTrainer")
"""Those of trl make the inputs require a gradient themselves."""

_EMBEDS = re.compile(r"conv|patch|embed|projection|^proj$|all-linear|[*(|\[]")
"""Names of layers that may stand before the first checkpoint; with an adapter of its own, the way is not cut."""


def switched_on(training: Training) -> Iterator[Finding]:
    calls = training.events(Called)
    if any(one.name in MENDS_INPUTS for one in calls) or wants_gradients_of_data(training):
        return
    enabled = [one for one in calls if one.name in RECOMPUTES]
    for call in enabled:
        adapted = _adapted(call.args[0])
        if adapted is None or not _is_reentrant(call.argument(1, _option(call.name))) or call.is_open:
            continue
        before = adapted.argument(0, "model")
        if any(other is before for one in enabled for other in alternatives(one.args[0])):
            continue  # peft has seen it, and makes the inputs require a gradient
        yield _finding(call.at, adapted)
    for trainer in training.objects:
        adapted = _adapted(trainer.argument(0, "model")) if trainer.type in _TRAINERS else None
        settings = trainer.argument(1, "args")
        if adapted is None or enabled or not isinstance(settings, Op) or settings.at is None:
            continue
        if any(
            constant(settings.options.get(f"{name}_checkpointing")) is True
            and _is_reentrant(settings.options.get(f"{name}_checkpointing_kwargs"))
            for name in ("gradient", "activation")
        ):
            yield _finding(settings.at, adapted)


def _option(method: str) -> str:
    return method.replace("enable", "kwargs")


def _is_reentrant(options: Value | None) -> bool:
    return isinstance(options, Table) and constant(options.entries.get("use_reentrant")) is True


def _adapted(model: Value | None) -> Object | None:
    """A model whose inputs are no tokens, with adapters that are only behind its embeddings."""
    if not isinstance(model, Object) or not model.is_a(ADAPTED) or not _NO_TOKENS.fullmatch(type_of(model)):
        return None
    config = model.argument(1, "peft_config")
    return model if isinstance(config, Op) and _is_behind_embeddings(config) else None


def _is_behind_embeddings(config: Op) -> bool:
    if config.name != "peft.LoraConfig" or constant(config.options.get("bias")) not in (None, "none"):
        return False
    targets = _names(config.options.get("target_modules"))
    saved = _names(config.options.get("modules_to_save"))
    if not targets or saved is None:
        return False
    return not any(_EMBEDS.search(one) for one in (*targets, *saved))


def _names(value: Value | None) -> list[str] | None:
    """The names in a list; None where they are not certain."""
    match value:
        case None:
            return []
        case Constant(value=None):
            return []
        case Constant(value=str(name)) if not value.is_default:
            return [name]
        case Items(exact=True):
            found = [constant(one) for one in value.items]
            return [one for one in found if isinstance(one, str)] if None not in found else None
    return None


def _finding(at: Place, adapted: Object) -> Finding:
    return Finding(
        at,
        "Reentrant checkpointing gives gradients only to layers whose input requires one, and the frozen embeddings of "
        "this model give none: its adapters are never trained. Pass `use_reentrant=False`.",
        (Because(adapted.at, "all but the adapters is frozen here"),) if adapted.at is not None else (),
    )
