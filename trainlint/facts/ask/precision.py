"""In which precision a program computes: regions of autocast, gradient scalers, and tensors that are float16."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from trainlint import limits
from trainlint.facts.api.classes import AUTOCAST, MODULE
from trainlint.facts.api.gradients import NO_GRADIENT
from trainlint.facts.api.precision import CAST_DOWN, CAST_TO, FLOATS
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.attachment import attachment, cuts
from trainlint.facts.ask.devices import device_types
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Guards,
    Named,
    Object,
    Op,
    Unknown,
    Value,
    constant,
    ways,
)

_MOST_CASTS = 200
"""Operations in a graph that are looked at one by one."""

_LOWEST_SCALE = 64
"""A loss that is multiplied by as much may be scaled by hand."""

_SAME_DTYPE = frozenset(
    "view reshape flatten unflatten permute transpose t T mT squeeze unsqueeze contiguous clone getitem expand narrow "
    "select movedim swapaxes detach masked_fill masked_fill_ masked_fill output dropout relu neg chunk split unbind "
    "tril triu".split()
)
"""Operations whose result is of the type of their first input."""

_PROMOTES = frozenset("+ - * / add sub mul div".split())
_GIVE_NUMBERS = frozenset("float_number int_number size dim len builtins.len item **".split())


@dataclass(frozen=True)
class Casting:
    """What autocast casts to, on one way to its regions; `dtype` is empty where nobody can say."""

    region: Object
    dtype: str
    guards: Guards


@question(start=(), unknown=())
def castings(regions: tuple[Value, ...]) -> tuple[Casting, ...]:
    """What autocast casts to inside regions, on every way to them. The innermost decides."""
    if not regions:
        return ()
    found: list[Casting] = []
    for guards, one in ways(regions[-1]):
        if not (isinstance(one, Object) and one.is_a(AUTOCAST)):
            outside = castings(regions[:-1])
            found += (Casting(outer.region, outer.dtype, (*guards, *outer.guards)) for outer in outside)
        elif constant(one.options.get("enabled")) is not False:
            found += (Casting(one, dtype, (*guards, *more)) for more, dtype in _casts_to(one))
    if len(found) <= limits.WAYS:
        return tuple(found)
    return tuple(dict.fromkeys(Casting(one.region, "", ()) for one in found))


def _casts_to(region: Object) -> Iterator[tuple[Guards, str]]:
    """Of several types among which nobody can say what decides, none is known."""
    found = list(_ways_to_cast(region))
    unguarded = {dtype for guards, dtype in found if not guards}
    for guards, dtype in found:
        yield guards, dtype if guards or len(unguarded) == 1 else ""


def _ways_to_cast(region: Object) -> Iterator[tuple[Guards, str]]:
    dtype = region.options.get("dtype")
    if constant(region.options.get("available")) is False or (dtype is None and region.is_open):
        yield (), ""
        return
    for guards, one in ways(dtype if dtype is not None else Constant(value=None)):
        if isinstance(one, Constant) and one.value is None:
            for more, device in device_types(region.options.get("device_type")):
                yield (*guards, *more), CAST_TO.get(device, "")
        else:
            yield guards, dtype_of(one)


def dtype_of(value: Value | None) -> str:
    """The floating type that a value is; empty where it is none, or not known."""
    return FLOATS.get(value.name, "") if isinstance(value, Named) else ""


def casts_of(loss: Value, under: Guards = ()) -> Iterator[Casting]:
    """What autocast casts to where the gradient of a loss goes through under some conditions, each region once."""
    seen: set[int] = set()
    looked_at = 0
    for one in made_of(loss, _ends_graph, under):
        if not isinstance(one, Op) or not one.autocast or not _computes(one) or _ends_graph(one):
            continue
        innermost = one.autocast[-1].uid
        looked_at += 1
        if innermost in seen or looked_at > _MOST_CASTS:
            continue
        way = attachment(one)
        if way.attached or way.uncertain:
            seen.add(innermost)
            yield from castings(one.autocast)


def _computes(op: Op) -> bool:
    """Whether an operation is one that autocast lowers, or a whole model."""
    if op.name in CAST_DOWN or op.name in ("output", "call"):
        return True
    return op.owner is not None and op.owner.is_a(MODULE) and not op.owner.type.startswith("torch.nn.")


def _ends_graph(op: Op) -> bool:
    return op.records is False or cuts(op) or op.name in NO_GRADIENT


# Scaling


def scaling(loss: Value) -> Iterator[Op]:
    """The operations by which a scaler has scaled a loss, or the outputs that it is made of."""
    for one in made_of(loss, lambda op: op.name in ("output", "scale")):
        if isinstance(one, Op) and one.name == "scale":
            yield one


def is_unscaled(loss: Value) -> bool:
    """Whether nothing can have scaled a loss: no scaler, no factor, and nothing that is called so."""
    if not isinstance(loss, (Op, Choice, Carried)):
        return False
    return not any(map(_may_scale, made_of(loss, lambda op: op.name in ("output", "scale"))))


def _may_scale(value: Value) -> bool:
    match value:
        case Op(name="scale"):
            return True
        case Op(name="*" | "mul"):
            factors = [constant(one) for one in value.inputs]
            return any(isinstance(one, (int, float)) and one >= _LOWEST_SCALE for one in factors)
        case Op(name="getattr"):
            return "scal" in str(constant(value.options.get("name"))).lower()
        case Op():
            return "scal" in f"{value.name} {value.text}".lower()
        case Unknown():
            return "scal" in value.text.lower()
    return False


def may_scale(scaler: Object) -> bool:
    """Whether a gradient scaler is not switched off for good."""
    return constant(scaler.options.get("enabled")) is not False


def may_be_disabled(scaler: Object) -> bool:
    """Whether a gradient scaler is, or may be, switched off."""
    enabled = scaler.options.get("enabled")
    return isinstance(enabled, Constant) and enabled.value is False


# Half tensors


@question(start=None, unknown=None)
def number(value: Value | None) -> float | None:
    """The number that a value certainly is, also where it is written as `-x` or `float("x")`."""
    match value:
        case Constant(is_default=False, value=bool()):
            return None
        case Constant(is_default=False, value=int() | float() | str() as plain):
            try:
                return float(plain)
            except (ValueError, OverflowError):
                return None
        case Op(name="-", inputs=(inner,)):
            found = number(inner)
            return -found if found is not None else None
        case Op(name="**", inputs=(base, exponent)):
            return _power(number(base), number(exponent))
    return None


def _power(base: float | None, exponent: float | None) -> float | None:
    """A power, unless it is no real number or too large for one."""
    if base is None or exponent is None or abs(exponent) >= 64:
        return None
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        return None


@question(start=None, unknown=None)
def is_half(value: Value | None, halved: frozenset[int]) -> Op | None:
    """The operation that makes a tensor float16, on some way that is open to it; None where none certainly does.

    Args:
        halved: numbers of modules whose parameters are float16.
    """
    found = (_makes_half(one, halved) for _, one in ways(value) if isinstance(one, Op))
    return next((one for one in found if one is not None), None)


def _makes_half(op: Op, halved: frozenset[int]) -> Op | None:
    if op.seen is not None:
        return op if op.seen.dtype == "float16" else None
    if op.name in CAST_DOWN:
        if any(one.dtype == "float16" for one in castings(op.autocast)):
            return op
        if op.autocast:
            return None
        if op.owner is not None and op.owner.uid in halved:
            return op
        if op.name in ("matmul", "@", "bmm", "baddbmm", "einsum", "mm"):
            found = [is_half(one, halved) for one in op.inputs]
            return next((one for one in found if one is not None), None)
        return None
    if op.name == "half":
        return op
    if op.name in ("to", "type") and any(
        dtype_of(one) == "float16" for one in (*op.inputs, *op.options.values())
    ):
        return op
    if op.name in _SAME_DTYPE and op.inputs:
        return is_half(op.inputs[0], halved)
    if op.name in _PROMOTES and len(op.inputs) == 2:
        plain = [one for one in op.inputs if not _is_number(one)]
        return is_half(plain[0], halved) if len(plain) == 1 else None
    return None


@question(start=False, unknown=False)
def _is_number(value: Value) -> bool:
    """Whether a value is a plain number: these leave the type of a tensor as it is."""
    match value:
        case Constant():
            return True
        case Op(name=name) if name.startswith(("math.", "numpy.")) or name in _GIVE_NUMBERS:
            return True
        case Op(name="+" | "-" | "*" | "/" | "//"):
            return all(map(_is_number, value.inputs))
    return False
