"""Which device a value may be."""

from __future__ import annotations

from typing import Any

from trainlint import limits
from trainlint.facts.ask.asking import question
from trainlint.facts.model import exclusive
from trainlint.facts.model.values import Constant, Guards, Items, Op, Value, ways

_DEVICES = frozenset(("cuda", "mps", "cpu", "xpu", "gpu"))
_ANY_DEVICE: tuple[tuple[Guards, str], ...] = (((), ""),)


@question(start=(), unknown=())
def ways_to_be_on(device: Value | None, kind: str) -> tuple[Guards, ...]:
    """The conditions under which a device, or the name of one, is of a kind (`mps`, `cuda`, ...)."""
    found: list[Guards] = []
    for guards, one in ways(device):
        match one:
            case Constant(value=str(name)) if name.partition(":")[0] == kind:
                found.append(guards)
            case Op(name="device", inputs=(inner, *_)) if not isinstance(inner, Items):
                found += ((*guards, *more) for more in ways_to_be_on(inner, kind))
            case Op(name="or" | "and"):
                for part in one.inputs:
                    found += ((*guards, *more) for more in ways_to_be_on(part, kind))
    apart = tuple(dict.fromkeys(found))
    return apart if len(apart) <= limits.WAYS else ()


@question(start=(), unknown=_ANY_DEVICE)
def device_types(device: Value | None) -> tuple[tuple[Guards, str], ...]:
    """The kinds of device that a value may be or name, with the conditions that lead to each; empty for unknown ones."""
    found: list[tuple[Guards, str]] = []
    for guards, one in ways(device):
        match one:
            case Constant(value=str(name), is_default=False):
                found.append((guards, name.partition(":")[0]))
            case Op(name="device", inputs=(inner, *_)) if not isinstance(inner, Items):
                found += (((*guards, *more), kind) for more, kind in device_types(inner))
            case Op(name="getattr", inputs=(inner,), options={"name": Constant(value="type")}):
                found += (((*guards, *more), kind) for more, kind in device_types(inner))
            case _:
                found.append((guards, ""))
    apart = tuple(dict.fromkeys(found))
    return apart if len(apart) <= limits.WAYS else _ANY_DEVICE


def may_ask_for_device(condition: Any) -> bool:
    """Whether a condition names a device, or is some value, such as that of `torch.cuda.is_available()`."""
    match condition:
        case ("value" | "result" | exclusive.OFF, _):
            return True
        case ("and" | "or" | "not", *parts):
            return any(may_ask_for_device(part) for part in parts)
    return names_device(condition)


def names_device(condition: Any, but: str = "") -> bool:
    """Whether a condition compares something with the name of a device, `device == "cuda"`, and with that of another one
    than this."""
    match condition:
        case ("and", *parts):
            return any(names_device(part, but) for part in parts)
        case ("==" | "in", *operands):
            return any(_device_named(operand) in _DEVICES - {but} for operand in operands)
    return False


def _device_named(operand: Any) -> str:
    match operand:
        case ("constant", str(text)):
            return text.strip("'\"").partition(":")[0]
    return ""
