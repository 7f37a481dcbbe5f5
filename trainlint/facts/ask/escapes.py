"""What code that is not known may do with what it is handed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value

_LOOKS = re.compile(
    r"^_?(save|saving|eval|evaluate|evaluation|valid|validate|validation|test|log|print|plot|show|draw|display|visuali[sz]e|"
    r"write|dump|report|record|export|measure|predict|infer|inference)(_|$)"
    r"|(^|_)(acc|accuracy|auc|auroc|f1|iou|miou|dice|psnr|ssim|bleu|rouge|wer|cer|precision|recall|metrics?|scores?|topk?)"
    r"(_\d+|_scores?|s)?$",
    re.IGNORECASE,
)
"""What functions are called that only look at a model, or at what it gives."""
_DOES_MORE = re.compile(
    r"step|train|updat|zero|clear|reset|backward|optim|learn|fit|clip|appl|run|loss|adapt|tun(e|ing)|search",
    re.IGNORECASE,
)


def only_looks(escape: Escape) -> bool:
    """Whether code out of sight is called after something that neither steps, nor touches gradients, nor keeps what it gets to
    train it. It may switch modes."""
    return _LOOKS.search(escape.by) is not None and not _DOES_MORE.search(escape.by)


def may_run_backward(escape: Escape) -> bool:
    """Whether code that is not known is handed an object, or something that gradients flow back from."""
    if only_looks(escape):
        return False
    for value in (*escape.values, *escape.tensors):
        if isinstance(value, Object):
            return True
        if isinstance(value, Op):
            way = attachment(value)
            if way.attached or way.uncertain:
                return True
    return False


def given_away(training: Training) -> Iterator[Value]:
    """All that code which is not known can get at in a program."""
    return (
        one for escape in training.events(Escape) for value in escape.values for one in handed_over(value)
    )


def given_to_trainers(training: Training) -> Iterator[Value]:
    """The same, but for code that only looks at what it gets."""
    escapes = (one for one in training.events(Escape) if not only_looks(one))
    return (one for escape in escapes for value in escape.values for one in handed_over(value))
