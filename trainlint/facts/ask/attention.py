"""Attention as the program computes it: from scores over a softmax to weights, and what stands in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trainlint.facts.api.attention import MIXES
from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.api.operations import ABOUT
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.masks import made
from trainlint.facts.ask.turns import swaps_last_axes
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import Element, number_of, plain
from trainlint.facts.model.values import Constant, Items, Op, Unknown, Value, alternatives

if TYPE_CHECKING:
    pass

_SAME_WEIGHTS = frozenset(
    "dropout to type type_as float double half bfloat16 view reshape transpose permute unsqueeze squeeze contiguous "
    "getitem output alias expand repeat clone t T mT flatten cpu cuda identity view_as expand_as".split()
)
"""Operations after which the weights of attention are still the same numbers, or dropped."""

_SAME_SCORES = _SAME_WEIGHTS | frozenset("clamp tanh relu leaky_relu softplus type_as cat stack sum".split())
_FROM_QUERIES = MIXES | frozenset(("linear", "bilinear", "torch.nn.Linear"))
_MOST = 60

End = Callable[[Op], bool]
"""Whether a way back ends at an operation."""


@dataclass(frozen=True)
class Masking:
    """A mask that meets scores or weights.

    Args:
        way: `masked_fill`, `where`, `setitem`, `tril`, `triu`, `+`, `-` or `*`.
        fill: what takes the place of what is masked; None where that is not a certain number.
        is_kept: whether it is what the mask chooses that stays, as with `torch.where(mask, scores, fill)`.
        is_turned: whether its rows are keys, for the last two axes change places behind it; None where they may.
    """

    op: Op
    way: str
    mask: Value
    fill: Element = None
    is_kept: bool = False
    is_turned: bool | None = False


@dataclass
class Way:
    """What lies between a result and what it was made of.

    Args:
        ends: for scores, the products or layers that they begin with; for weights, the softmaxes.
        maskings: the masks on the way, the latest first.
        factors: what it was multiplied with or divided by, that is no mask.
        scaled: the operations that did so.
        addends: what was added to it.
        passed: the other operations on the way.
    """

    ends: list[Op] = field(default_factory=list)
    maskings: list[Masking] = field(default_factory=list)
    factors: list[Value] = field(default_factory=list)
    scaled: list[Op] = field(default_factory=list)
    addends: list[Value] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)


def weights_in(op: Op) -> Value | None:
    """Which input of a product is what came of a softmax; None where none is."""
    given = op.inputs[1:] if plain(op) in ("einsum", "baddbmm") else op.inputs[:2]
    for value in given:
        for one in value.items if isinstance(value, Items) else (value,):
            if _leads(one, _is_softmax, _SAME_WEIGHTS):
                return one
    return None


def weights_summed(total: Op) -> Value | None:
    """What came of a softmax and weighs whole vectors in a sum, `(weights.unsqueeze(-1) * values).sum(1)`; None where nothing
    does. A sum of probabilities times numbers is no such thing."""
    product = total.inputs[0] if total.inputs else None
    if not isinstance(product, Op) or plain(product) != "*":
        return None
    widened = [one.inputs[0] for one in product.inputs if isinstance(one, Op) and _is_widened(one)]
    return next((one for one in widened if _leads(one, _is_softmax, _SAME_WEIGHTS)), None)


def _is_widened(op: Op) -> bool:
    """Whether a tensor gets a new last axis."""
    if op.name == "unsqueeze":
        return number_of(op.option(1, "dim")) == -1
    index = op.options.get("index") if op.name == "getitem" else None
    last = index.items[-1] if isinstance(index, Items) and index.items else None
    return isinstance(last, Constant) and last.value is None


def weights_of(value: Value, before: int) -> Way | None:
    """From weights back to the softmaxes; None where something on the way is not known to leave weights."""
    return _way(value, _is_softmax, _SAME_WEIGHTS, before)


def scores_of(softmax: Op) -> Way | None:
    """From what a softmax is given back to what gave the scores; None where something on the way is not known."""
    if not softmax.inputs:
        return None
    return _way(softmax.inputs[0], _gives_scores, _SAME_SCORES, softmax.uid)


def _is_softmax(op: Op) -> bool:
    return op.name == "softmax"


def _gives_scores(op: Op) -> bool:
    return op.name in _FROM_QUERIES


def _leads(value: Value, is_end: End, passes: frozenset[str]) -> bool:
    """Whether a value comes from an end, through operations that keep it, masks, and numbers."""
    pending = [value]
    seen: set[int] = set()
    while pending and len(seen) < _MOST:
        for one in alternatives(pending.pop()):
            if one.uid in seen or not isinstance(one, Op):
                continue
            seen.add(one.uid)
            if is_end(one):
                return True
            step = plain(one)
            if step in ("+", "-", "*", "where"):
                pending.extend(one.inputs)
            elif step in _STEPS or one.name in passes:
                pending.extend(one.inputs[:1])
            elif (mixed := mixed_heads(one)) is not None:
                pending.append(mixed)
    return False


def mixed_heads(op: Op) -> Value | None:
    """What an `einsum` with a table of parameters mixes, as talking heads do; None where it is anything else."""
    if plain(op) != "einsum":
        return None
    rest = op.inputs[1:]
    given = tuple(rest[0].items) if len(rest) == 1 and isinstance(rest[0], Items) else rest
    left = [one for one in given if not (isinstance(one, Op) and one.name == PARAMETER)]
    return left[0] if len(left) == 1 and len(given) == 2 else None


_ARITHMETIC = frozenset("+ - * /".split())
_TRIANGLES = frozenset(("tril", "triu"))
"""Set what lies beyond a diagonal to 0."""

_STEPS = _ARITHMETIC | _TRIANGLES | frozenset(("masked_fill", "where", "setitem"))


def _way(value: Value, is_end: End, passes: frozenset[str], before: int) -> Way | None:
    found = Way()
    pending: list[tuple[Value, bool | None]] = [(value, False)]
    seen: set[int] = set()
    while pending:
        one, is_turned = pending.pop(0)
        for way in alternatives(one):
            if way.uid in seen or (isinstance(way, Constant) and way.value is None):
                continue
            seen.add(way.uid)
            spend()
            if not isinstance(way, Op) or len(seen) > _MOST:
                return None
            before_it = len(found.maskings)
            if not _note_written(way, before, is_end, found):
                return None
            if is_end(way):
                found.ends.append(way)
            else:
                inner = _one_back(way, is_end, passes, found)
                if inner is None:
                    return None
                pending.append((inner, both(is_turned, swaps_last_axes(way))))
            found.maskings[before_it:] = [
                replace(masking, is_turned=is_turned) for masking in found.maskings[before_it:]
            ]
    return found if found.ends else None


def _one_back(op: Op, is_end: End, passes: frozenset[str], found: Way) -> Value | None:
    """What an operation works on, and what is noted of the operation; None where it is not known to leave scores."""
    step = plain(op)
    if step in _STEPS:
        return _through(op, step, is_end, passes, found)
    if op.name in passes and op.inputs:
        found.passed.add(op.name)
        return op.inputs[0]
    return None


def both(one: bool | None, other: bool | None) -> bool | None:
    """Whether two turns, one after the other, are one."""
    return None if one is None or other is None else one is not other


def _note_written(op: Op, before: int, is_end: End, found: Way) -> bool:
    """Note what was done in place to the result of an operation; false where that is not known to leave it."""
    for write in reversed(op.written):
        if write.uid >= before:
            continue
        step = plain(write)
        if step in _ARITHMETIC and len(write.inputs) == 2:
            if not _note_met(write, step, write.inputs[1], is_end, found):
                return False
        else:
            found.maskings.append(
                _masking(write, step) or Masking(write, "setitem", Unknown(text=write.text))
            )
    return True


def _masking(op: Op, step: str) -> Masking | None:
    """`masked_fill`, or an assignment to what a mask chooses."""
    if step == "masked_fill":
        mask = op.option(1, "mask")
        return Masking(op, step, mask, _filled(op.option(2, "value"))) if mask is not None else None
    if step == "setitem" and len(op.inputs) == 3:
        return Masking(op, step, op.inputs[1], _filled(op.inputs[2]))
    return None


def _filled(value: Value | None) -> Element:
    number = number_of(value)
    if number is not None:
        return number
    whole = made(value)
    return whole.kept if whole is not None and not whole.parts else None


def _through(op: Op, step: str, is_end: End, passes: frozenset[str], found: Way) -> Value | None:
    """One operation that may mask: what is noted of it, and the input that it works on."""
    if step in ("masked_fill", "setitem"):
        masking = _masking(op, step)
        if masking is not None:
            found.maskings.append(masking)
        return op.inputs[0]
    if step in _TRIANGLES:
        found.maskings.append(Masking(op, step, Unknown(text=op.text), 0))
        return op.inputs[0]
    main = next((n for n, one in enumerate(op.inputs) if _leads(one, is_end, passes)), None)
    if main is None or len(op.inputs) < 2:
        return None
    if step == "where":
        if len(op.inputs) != 3:
            return None
        condition, other = (1, 2) if main == 0 else (0, 3 - main)
        fill = _filled(op.inputs[other])
        found.maskings.append(Masking(op, step, op.inputs[condition], fill, is_kept=main != 2))
        return op.inputs[main]
    if not _note_met(op, step, op.inputs[1 - main], is_end, found):
        return None
    return op.inputs[main] if step != "/" or main == 0 else None


def _note_met(op: Op, step: str, other: Value, is_end: End, found: Way) -> bool:
    """Note what was added or multiplied: a mask or a number. False for weights that are divided by their sum, it may be."""
    mask = made(other)
    if mask is not None and mask.parts:
        found.maskings.append(Masking(op, step, other))
    elif step in ("*", "/"):
        if step == "/" and is_end is _is_softmax and not isinstance(other, Constant):
            return False
        found.factors.append(other)
        found.scaled.append(op)
    else:
        found.addends.append(other)
    return True


def is_given(masking: Masking, of: Op) -> bool:
    """Whether a mask is given, and follows neither from what it is put on nor from chance."""
    pieces = list(made_of(masking.mask, lambda op: op is of or op.name in ABOUT))
    chance = any(isinstance(one, Op) and one.name in _CHANCE for one in pieces)
    return not chance and of not in pieces


def is_zero_or_one(masking: Masking) -> bool:
    """Whether a mask that is multiplied in certainly holds ones where it keeps, and zeros where it leaves out."""
    mask = made(masking.mask)
    return mask is not None and mask.kept == 1 and any(one.held == 0 for one in mask.parts)


_CHANCE = frozenset(("rand", "rand_like", "bernoulli", "bernoulli_", "dropout"))


SAME_VECTORS = _SAME_WEIGHTS | frozenset(("chunk", "split", "unbind", "rearrange", "unflatten", "iterate"))
