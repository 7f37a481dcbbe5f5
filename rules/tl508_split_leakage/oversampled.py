"""Rows that are drawn a second time, to make a rare class as large as the others."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.values import Items, Op, Value, alternatives, constant

from .alike import called, last
from .splits import SAME_ROWS

_CREATES = ("SMOTE", "ADASYN", "RandomOverSampler", "ROSE")
_JOINS = frozenset("concat cat concatenate vstack append row_stack stack".split())
_DATASETS = frozenset(("torch.utils.data.TensorDataset", "torch.utils.data.ConcatDataset"))
_POSITIONS = frozenset("nonzero flatnonzero where argwhere".split())
_DRAWS = frozenset(("choice", "choices", "randint", "integers", "multinomial"))
_OF_FRAMES = ("sample", "reset_index", "to_numpy", "drop", "copy")
_MOST = 400


def drawn_again(value: Value) -> Op | None:
    """What makes copies of some rows, of those that are in a value."""
    for one in reached([value], _rows, _MOST):
        if isinstance(one, Op) and one.at is not None and _repeats(one):
            return one
    return None


def _rows(value: Value) -> Iterable[Value]:
    """What the rows of a value come from."""
    if not isinstance(value, Op):
        return value.parts()
    if value.name in _DATASETS or last(value) in _JOINS:
        return value.inputs
    if (
        last(value) in SAME_ROWS
        or value.name in ("-", "/", "getitem", "getattr")
        or called(value, *_OF_FRAMES)
    ):
        return value.inputs[:1]
    return ()


def _repeats(op: Op) -> bool:
    if called(op, "fit_resample", "fit_sample"):
        made = {last(one) for one in alternatives(op.inputs[0] if op.inputs else None) if isinstance(one, Op)}
        return bool(made) and all(any(name in one for name in _CREATES) for one in made)
    if op.name == "sklearn.utils.resample":
        return constant(op.options.get("replace")) is not False
    if called(op, "sample"):
        return constant(op.options.get("replace")) is True
    if op.name == "torch.utils.data.ConcatDataset":
        return _joins_a_part_of_itself(op)
    return op.name == "getitem" and any(_draws_a_class(one) for one in reached(_index(op), _in_index, _MOST))


def _joins_a_part_of_itself(op: Op) -> bool:
    """`ConcatDataset([data, Subset(data, rare)])`."""
    given = op.inputs[0] if op.inputs else op.options.get("datasets")
    held = given.items if isinstance(given, Items) else []
    whole = {one.uid for value in held for one in alternatives(value)}
    parts = [one for value in held for one in alternatives(value) if isinstance(one, Op) and one.inputs]
    return any(last(one) == "Subset" and one.inputs[0].uid in whole for one in parts)


def _index(op: Op) -> list[Value]:
    found = op.option(1, "index")
    return [] if found is None else [found]


def _in_index(value: Value) -> Iterable[Value]:
    if isinstance(value, Items):
        return value.items
    if not isinstance(value, Op) or last(value) in _DRAWS or called(value, *_DRAWS):
        return value.parts() if not isinstance(value, Op) else ()
    return [*value.inputs, *value.options.values()] if value.name == "getitem" else value.inputs


def _draws_a_class(op: Value) -> bool:
    """Whether positions are drawn, with replacement, of those at which a condition holds: `rng.choice(np.where(y == 1)[0], n)`."""
    if not isinstance(op, Op):
        return False
    if op.name == "getitem":
        return _is_of_a_class(op.inputs[:1]) and any(
            isinstance(one, Op) and last(one) in ("randint", "integers")
            for one in reached(_index(op), most=20)
        )
    is_choice = called(op, "choice") or last(op) == "choice"
    return is_choice and constant(op.options.get("replace")) is True and _is_of_a_class(op.inputs)


def _is_of_a_class(values: Iterable[Value]) -> bool:
    return any(isinstance(one, Op) and last(one) in _POSITIONS for one in reached(values, most=50))
