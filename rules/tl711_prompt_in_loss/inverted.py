"""Labels in which the answer is left out of the loss, and the prompt is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.api.losses import IGNORED
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.named_parts import all_made, named_part
from trainlint.facts.model.events.batches import Ignored
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Op, Table, Value, alternatives, constant
from trainlint.finding import Place

from .columns import ANSWERS, ASKS, columns

_JOINS = frozenset(("cat", "concat", "concatenate", "numpy.concatenate", "hstack", "+"))
_KEEPS = frozenset(
    "clone copy getitem to long tensor LongTensor as_tensor squeeze unsqueeze int list".split()
)
_MOST_STEPS = 30


def inverted(training: Training) -> Iterator[Place]:
    """Where labels are ignored from the end of the prompt on, and not before it."""
    for ignored in training.events(Ignored):
        start = _begins_at(ignored.where)
        if start is not None and _is_length_of_prompt(start, ignored.labels):
            yield ignored.at
    for batch in all_made(training):
        labels, ids = named_part(batch, "labels"), named_part(batch, "input_ids")
        if isinstance(labels, Op) and labels.at is not None and _answers_are_left_out(labels, ids):
            yield labels.at


def _begins_at(where: Value) -> Value | None:
    """Where a slice begins that goes on to the end: `[n:]`, `[:, n:]`."""
    axes = where.items if isinstance(where, Items) else [where]
    last = axes[-1] if axes else None
    if not isinstance(last, Op) or last.name != "[:]" or len(last.inputs) < 2:
        return None
    start, end = last.inputs[:2]
    is_open = isinstance(end, Constant) and end.value is None
    return start if is_open and not isinstance(start, Constant) else None


def _is_length_of_prompt(length: Value, labels: Value) -> bool:
    """Whether a number is the length of the first of two parts of which the labels are made, or of a text of the columns
    that ask."""
    first = {one.uid for part in _first_parts(labels) for one in alternatives(part)}
    inside = list(reached([length], _measured, 200))
    if first and any(one.uid in first for one in inside):
        return not any(one.uid == part.uid for one in inside for part in _second_parts(labels))
    found = columns([length])
    return bool(found & ASKS) and found.isdisjoint(ANSWERS) and not columns([labels]).isdisjoint(ANSWERS)


def _measured(value: Value) -> Iterable[Value]:
    """What a length is of: only a length itself leads to it, and the smaller of several."""
    if not isinstance(value, Op):
        return value.parts()
    last = value.name.rpartition(".")[2]
    if last in ("len", "size", "shape", "min", "getitem", "int", "numel"):
        return value.inputs[:1] if last == "getitem" else value.inputs
    return ()


def _joined(value: Value) -> Iterator[Op]:
    """The operation that puts labels together of parts, before copies and slices."""
    for _ in range(_MOST_STEPS):
        if not isinstance(value, Op) or not value.inputs:
            return
        if value.name in _JOINS:
            yield value
            return
        if value.name not in _KEEPS and not value.text.endswith(".copy(…)"):
            return
        value = value.inputs[0]


def _parts(joined: Op) -> list[Value]:
    given = joined.inputs[0] if joined.inputs else None
    if joined.name == "+":
        return list(joined.inputs)
    return list(given.items) if isinstance(given, Items) and given.exact else []


def _first_parts(labels: Value) -> Iterator[Value]:
    for joined in _joined(labels):
        yield from _parts(joined)[:1]


def _second_parts(labels: Value) -> Iterator[Value]:
    for joined in _joined(labels):
        yield from _parts(joined)[1:]


def _answers_are_left_out(labels: Op, ids: Value | None) -> bool:
    """`input_ids = prompt + answer` and `labels = prompt + [-100] * len(answer)`."""
    for mine in _joined(labels):
        own = _parts(mine)
        if len(own) == 2 and _is_ignored(own[1]) and _is_prompt_of_both(own[0]):
            return True
    for mine, theirs in ((one, other) for one in _joined(labels) for other in _joined_of(ids)):
        own, given = _parts(mine), _parts(theirs)
        if len(own) == len(given) == 2 and own[0] is given[0] and _is_ignored(own[1]):
            return not isinstance(given[1], (Items, Constant, Table)) and not _is_ignored(given[1])
    return False


def _is_prompt_of_both(value: Value) -> bool:
    """`labels[:n]`, where `n` is the length of the prompt."""
    index = value.option(1, "index") if isinstance(value, Op) and value.name == "getitem" else None
    if not isinstance(value, Op) or not isinstance(index, Op) or index.name != "[:]":
        return False
    end = index.inputs[1]
    return not isinstance(end, Constant) and _is_length_of_prompt(end, value.inputs[0])


def _joined_of(ids: Value | None) -> Iterator[Op]:
    return _joined(ids) if ids is not None else iter(())


@question(start=False, unknown=False)
def _is_ignored(value: Value) -> bool:
    if isinstance(value, Items):
        return bool(value.items) and all(constant(one) == IGNORED for one in value.items)
    if isinstance(value, Op) and value.name in ("full", "full_like", "numpy.full"):
        return bool(constant(value.option(1, "fill_value")) == IGNORED)
    return isinstance(value, Op) and value.name == "*" and any(map(_is_ignored, value.inputs))
