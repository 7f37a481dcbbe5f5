"""Values that are made of the same by the same, wherever that is."""

from __future__ import annotations

from trainlint.facts.ask.loaders import purpose_of
from trainlint.facts.model.values import Constant, Object, Op, Value

_READS = frozenset("load read_csv loadtxt genfromtxt len int_number round * / // + - getitem getattr".split())
_MOST = 5_000


def is_same(one: Value | None, other: Value | None) -> bool:
    """Whether two values are one, or are made of the same by the same, but for what is done to each sample."""
    pending, met = [(one, other)], set()
    while pending:
        first, second = pending.pop()
        if first is None or second is None:
            return False
        if first is second or (first.uid, second.uid) in met:
            continue
        met.add((first.uid, second.uid))
        inner = _made_alike(first, second) if len(met) < _MOST else None
        if inner is None:
            return False
        pending += inner
    return True


def _made_alike(one: Value, other: Value) -> list[tuple[Value, Value]] | None:
    """What has to be the same for two values to be so; None where they differ. Numbers alone, as sizes, do not say that
    anything is the same: random numbers are made of these."""
    match one, other:
        case Constant(), Constant():
            return [] if type(one.value) is type(other.value) and one.value == other.value else None
        case Op(), Op():
            alike = one.name == other.name and _gives_the_same(one)
        case Object(), Object():
            alike = one.type == other.type and one.definition is other.definition
        case _:
            return None
    first, second = _arguments(one), _arguments(other)
    is_told = any(not isinstance(one, Constant) or isinstance(one.value, str) for one in first.values())
    is_alike = alike and is_told and first.keys() == second.keys()
    return [(first[key], second[key]) for key in first] if is_alike else None


def _gives_the_same(op: Op) -> bool:
    """Whether an operation gives the same each time: it reads a file, makes a dataset, or computes a size."""
    return last(op) in _READS or last(op)[:1].isupper()


def _arguments(made: Op | Object) -> dict[object, Value]:
    given = made.inputs if isinstance(made, Op) else made.args
    named: dict[object, Value] = {
        name: one for name, one in made.options.items() if "transform" not in name and name != "download"
    }
    return {**dict(enumerate(given)), **named}


def names_a_part(made: Value) -> bool:
    """Whether a dataset is told which part of the data it is: `split="test"`, or `train=True` of torchvision's."""
    if not isinstance(made, (Op, Object)) or (isinstance(made, Op) and made.written):
        return False
    texts = (
        one.value for one in _arguments(made).values() if isinstance(one, Constant) and not one.is_default
    )
    if any(isinstance(one, str) and one.isidentifier() and purpose_of(one) is not None for one in texts):
        return True
    return isinstance(made, Op) and made.name.startswith("torchvision.") and "train" in made.options


def last(op: Op) -> str:
    return str(op.name).rpartition(".")[2]


def called(op: Op, *methods: str) -> bool:
    """Whether it is a call of one of these methods of something that is not in sight, such as a table."""
    return op.text.endswith(tuple(f".{one}(…)" for one in methods))
