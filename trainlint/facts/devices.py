"""Which device a value may be."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.values import Constant, Guards, Items, Op, Value, ways


def ways_to_be_on(device: Value | None, kind: str, depth: int = 0) -> Iterator[Guards]:
    """The conditions under which a device, or the name of one, is of a kind (`mps`, `cuda`, ...)."""
    for guards, one in ways(device):
        match one:
            case Constant(value=str(name)) if name.partition(":")[0] == kind:
                yield guards
            case Op(name="device", inputs=(inner, *_)) if depth < 6 and not isinstance(inner, Items):
                yield from ((*guards, *more) for more in ways_to_be_on(inner, kind, depth + 1))
            case Op(name="or" | "and") if depth < 6:
                for part in one.inputs:
                    yield from ((*guards, *more) for more in ways_to_be_on(part, kind, depth + 1))
