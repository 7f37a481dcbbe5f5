from collections.abc import Iterator

from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import numbers_of
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .distances import to_itself
from .infinite_masks import infinite_products
from .zeros import RELUS, unwrapped, zeros

LOGS = ("log", "log2", "log10")
ROOTS = ("sqrt", "rsqrt", "reciprocal")


@rule(Training, level="warning", words="softmax Softmax attn_mask")
def check(training: Training) -> Iterator[Finding]:
    losses = [backward.loss for backward in training.events(Backward)]
    operations = [event.output for event in training.events(Operation)]
    for event in training.events(Operation):
        op = event.output
        found = zeros(_asked(op)) or (to_itself(_asked(op)) if op.name == "sqrt" else None)
        if found is None or op.records is False or not any(is_made_of(loss, op) for loss in losses):
            continue
        maker, why = found
        if op.name == "sqrt" and (maker.name in RELUS or not attachment(op.inputs[0]).attached):
            continue  # only its gradient is infinite, and a relu passes none where its output is 0
        if op.name in LOGS and any(_is_unstable_log(one) and _is_beside(one, op) for one in operations):
            continue  # which TL412 reports, and its advice mends both
        because = (Because(maker.at, why),) if maker.at is not None else ()
        what = {"/": "a division by 0", "div": "a division by 0"}.get(op.name, f"`{op.name}` of 0")
        yield Finding(
            event.at,
            f"the value here can be exactly 0, and {what} makes the loss or its gradient infinite or NaN. "
            "Keep it away from 0, or use the function that fuses both steps.",
            because,
            evidence={key: one for key, one in numbers_of(op).items() if key == "not finite"},
        )
    done = set()
    for product, user in infinite_products(training):
        if product.at is not None and product.at not in done:
            done.add(product.at)
            yield Finding(
                product.at,
                "0 times infinity is NaN, so this mask turns every score that it should leave alone into NaN. Use "
                '`torch.zeros_like(mask).masked_fill(mask == 0, float("-inf"))`, or a large finite number.',
                (Because(user.at, "it is added to the scores here"),) if user.at is not None else (),
                level="error",
            )


def _is_unstable_log(op: Op) -> bool:
    """Whether it is the log of a sigmoid or softmax."""
    if op.name != "log" or not op.inputs:
        return False
    inner = unwrapped(op.inputs[0])
    return isinstance(inner, Op) and inner.name in ("sigmoid", "softmax")


def _is_beside(one: Op, other: Op) -> bool:
    """Whether two operations stand on one line: `log(p) + log(1 - q)`."""
    return one.at is not None and other.at is not None and one.at[:2] == other.at[:2]


def _asked(op: Op) -> Value | None:
    """What must not be 0."""
    if op.name in LOGS or op.name in ROOTS:
        return op.inputs[0] if op.inputs else None
    if op.name in ("/", "div") and len(op.inputs) == 2:
        return op.inputs[1]
    return None
