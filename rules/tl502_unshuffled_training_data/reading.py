"""In which order a loader reads its dataset, and whether that order can matter."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.loaders import is_built_openly
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value, alternatives

_RANDOM = frozenset("rand randn randint randperm rand_like randn_like normal FakeData".split())


def reads_in_order(loader: Object) -> bool:
    """Whether a loader certainly goes through its dataset from the first item to the last, every time."""
    return is_built_openly(loader) and all(
        _is_absent(loader.argument(position, name), default)
        for position, name, default in (
            (2, "shuffle", False),
            (3, "sampler", None),
            (4, "batch_sampler", None),
        )
    )


def _is_absent(value: Value | None, default: object) -> bool:
    if value is None:
        return True
    found = list(alternatives(value))
    return all(
        isinstance(one, Constant) and not one.is_default and one.value in (None, default) for one in found
    )


def is_one_batch(loader: Object) -> bool:
    """Whether a loader hands out everything at once: its batches are as large as something is long."""
    size = loader.argument(1, "batch_size")
    while isinstance(size, Op) and size.name == "getitem":
        size = size.inputs[0]
    return isinstance(size, Op) and size.name.removeprefix("builtins.") in ("len", "shape", "size")


def is_random(value: Value) -> bool:
    """Whether a value is, or holds, freshly drawn random numbers."""
    return any(
        isinstance(one, Op)
        and (one.name in _RANDOM or one.name.rpartition(".")[2] in _RANDOM or ".random." in one.name)
        for one in reached([value], _held, 500)
    )


def _held(value: Value) -> Iterable[Value]:
    if isinstance(value, Object):
        return (*value.args, *value.options.values(), *value.attributes.values())
    return value.parts() if isinstance(value, (Op, Items, Table)) else ()
