"""Terms of a loss that are plain numbers or copies, of what the same model gave that the other terms learn from.

Nothing needs to be known of that model: `backward()` shows that some term has a graph, and so has what the model gave.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.gradients import NO_GRADIENT
from trainlint.facts.api.losses import SCALING
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.model.values import Choice, Constant, Op, Unknown, Value, constant

_NUMBERS = frozenset("item float_number tensor".split())
"""What makes a number, or a tensor without a graph, of one tensor."""
_LEARNED = re.compile(r"alpha|lam|mult|dual|temp|log|weight_?param|sigma|nu$", re.IGNORECASE)
"""What weights are called that are learned themselves: what they are multiplied with may be a number."""


def number_terms(loss: Value) -> Iterator[Op]:
    """What makes numbers of whole terms of a loss, each of a tensor that comes from where another term gets its graph."""
    if not any(map(_makes_number, reached([loss], _recorded))):
        return
    summed = [one for one in reached([loss], _summands) if not _summands(one)]
    ways = [list(reached([term], _recorded)) for term in summed]
    terms_with = Counter(one.uid for way in ways for one in way)
    for way in ways:
        made = [one for one in way if isinstance(one, Op) and _makes_number(one)]
        if not made or not all(_is_known(one) for one in way):
            continue
        for cut in made:
            if terms_with[cut.inputs[0].uid]:
                continue  # `loss + loss.item()`: no gradient is lost
            inner = reached(cut.inputs, _recorded)
            if any(_is_given(one) and terms_with[one.uid] for one in inner):
                yield cut


def _summands(loss: Value) -> Sequence[Value]:
    """What a loss is directly the sum of; of a product with anything but a number, it is not known what learns from it."""
    match loss:
        case Op(name="output" | "scale" | "-", inputs=(inner, *_)) if (
            loss.name != "-" or len(loss.inputs) == 1
        ):
            return (inner,)
        case Op(name="+" | "-" | "add" | "sub", inputs=(_, _)):
            return loss.inputs
        case Op(name="*" | "mul" | "/" | "div", inputs=(Constant(), inner) | (inner, Constant())):
            return (inner,)
        case Choice() if all(guards for guards, _ in loss.options):
            return loss.parts()
    return ()


def _makes_number(value: Value) -> bool:
    is_number = isinstance(value, Op) and value.name in _NUMBERS and len(value.inputs) == 1
    return is_number and isinstance(value.parts()[0], Op) and not (isinstance(value, Op) and value.is_leaf)


def _recorded(value: Value) -> Sequence[Value]:
    """What the gradient of a value goes on to, as far as this is in sight; of a product, not its plain weights."""
    if not isinstance(value, Op):
        return value.parts()
    if _makes_number(value) or _is_given(value) or cuts(value) or value.name in NO_GRADIENT:
        return ()
    if value.name in SCALING:
        return [one for one in value.inputs if not _is_weight(one)]
    return value.parts()


def _is_known(value: Value) -> bool:
    """Whether nothing else in a term may have a graph."""
    if isinstance(value, Op):
        return (
            not _is_given(value) and bool(value.parts()) and value.name not in ("call", "iterate", "getattr")
        )
    return not isinstance(value, Unknown)


def _is_given(value: Value) -> bool:
    """Whether a value is what a model gives whose layers are not in sight, or something of which only the call is."""
    if not isinstance(value, Op):
        return False
    if value.owner is not None:
        return (
            value.name == "output" and value.owner.is_a(MODULE) and has_parameters(value.owner) is not False
        )
    return value.name == "call" and len(value.inputs) > 1 and isinstance(value.inputs[0], Unknown)


def _is_weight(value: Value) -> bool:
    """Whether a factor is a setting: a number, or an entry of a dict or of a configuration, which may be one of another."""
    *entries, last = reached([value], _holder)
    is_held = isinstance(last, Unknown) and bool(entries)
    return (is_held or isinstance(last, Constant)) and all(map(_is_setting, entries))


def _holder(value: Value) -> Sequence[Value]:
    """What an entry or an attribute is of."""
    return value.inputs[:1] if isinstance(value, Op) and value.name in ("getitem", "getattr") else ()


def _is_setting(entry: Value) -> bool:
    name = (
        constant(entry.options.get("index") or entry.options.get("name")) if isinstance(entry, Op) else None
    )
    return isinstance(name, str) and not _LEARNED.search(name)
