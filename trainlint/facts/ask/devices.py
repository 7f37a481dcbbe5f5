"""Which device a value may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainlint.facts.model.values import Constant, Guards, Items, Op, Value, ways

_DEVICES = frozenset(("cuda", "mps", "cpu", "xpu", "gpu"))


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


def device_types(device: Value | None, depth: int = 0) -> Iterator[tuple[Guards, str]]:
    """The kinds of device that a value may be or name, with the conditions that lead to each; empty for unknown ones."""
    for guards, one in ways(device):
        match one:
            case Constant(value=str(name), is_default=False):
                yield guards, name.partition(":")[0]
            case Op(name="device", inputs=(inner, *_)) if depth < 6 and not isinstance(inner, Items):
                yield from (((*guards, *more), kind) for more, kind in device_types(inner, depth + 1))
            case Op(name="getattr", inputs=(inner,), options={"name": Constant(value="type")}) if depth < 6:
                yield from (((*guards, *more), kind) for more, kind in device_types(inner, depth + 1))
            case _:
                yield guards, ""


def may_ask_for_device(condition: Any) -> bool:
    """Whether a condition names a device, or is some value, such as that of `torch.cuda.is_available()`."""
    match condition:
        case ("value" | "result", _):
            return True
        case ("and" | "or" | "not", *parts):
            return any(may_ask_for_device(part) for part in parts)
        case ("==" | "in", *operands):
            return any(_names_device(operand) for operand in operands)
    return False


def _names_device(operand: Any) -> bool:
    match operand:
        case ("constant", str(text)):
            return text.strip("'\"").partition(":")[0] in _DEVICES
    return False
