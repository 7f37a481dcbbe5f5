"""Probabilities that were chosen because they are not 0."""

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.values import Op, Value

_CHOOSES = frozenset("multinomial argmax max topk sample cumsum searchsorted".split())
_PICKS = frozenset(("getitem", "gather", "index_select", "take_along_dim"))


def is_of_the_drawn(value: Value, probabilities: Op) -> bool:
    """Whether a value holds only probabilities at indices that were drawn by them, or where they are largest."""
    while isinstance(value, Op) and value is not probabilities and value.inputs:
        if value.name in _PICKS and any(_is_drawn(one, probabilities) for one in _indices(value)):
            return True
        value = value.inputs[0]
    return False


def _indices(op: Op) -> tuple[Value, ...]:
    return (*op.inputs[1:], *op.options.values())


def _is_drawn(index: Value, probabilities: Op) -> bool:
    """Whether an index was chosen by probabilities, or by the scores that they were made of."""
    alike = (probabilities, *probabilities.inputs[:1])
    return any(
        isinstance(one, Op) and one.name in _CHOOSES and any(is_made_of(one, by) for by in alike)
        for one in reached([index], most=200)
    )
