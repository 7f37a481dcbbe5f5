"""What a tensor means: logits, probabilities and the like, and which operations have made it so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.api.meanings import CLAMPS, KEEPS, MAKES, TURNS, Meaning
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.guards import ask_for_mode
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.elements import plain
from trainlint.facts.model.values import Carried, Choice, Constant, Items, Op, Unknown, Value, constant

_SMALL = 1e-2
"""A constant below this, added to probabilities, leaves them what they are."""

_ROOM = frozenset("zeros empty new_zeros new_empty zeros_like empty_like".split())

_OVER_CLASSES, _OF_EACH = ("softmax", "softmin"), ("sigmoid", "expit")
"""Operations that make probabilities along one axis, and of each number for itself."""

_TOGETHER = ("stack", "cat", "concat", "hstack", "vstack", "getitem")
"""Operations whose result means what each of their inputs means."""


_PRODUCTS = ("@", "matmul", "mm", "bmm", "spmm")
"""Sums of the rows of the second input, as a layer of a graph gives them: of logits they are logits."""


def makers(value: Value | None) -> tuple[Op, ...] | None:
    """The operations that gave a tensor its meaning, one for each way it may have come about.

    Views, casts, slices and the like are looked through. None if on any way the meaning is not known.
    """
    return (_makers(value) or None) if value is not None else None


@question(start=(), unknown=None)
def _makers(value: Value) -> tuple[Op, ...] | None:
    """The same, with nothing for a way that only leads back to itself."""
    match value:
        case Choice() if _is_by_mode(value):
            return _of_each(value.parts())
        case Choice() | Carried():
            return _of_each(part for part in value.parts() if not _is_placeholder(part))
        case Items(items=[_, *_]):
            return _of_each(value.items)
        case Op() if value.name in MAKES or value.name in TURNS:
            return (value,)
        case Op(written=(_, *_)) if _is_room(value):
            return _of_each(write.inputs[2] for write in value.written)
        case Op(inputs=(first, *_)) if (
            value.name in _TOGETHER or value.name in KEEPS or value.name == "dropout"
        ):
            return _makers(first)
        case Op(name="iterate", inputs=(first,)) if is_tensor(first):  # its rows
            return _makers(first)
        case Op(name="mean", inputs=(first, *_)):
            inner = _makers(first)
            return (
                inner if inner and all(_is_of_logits(op) or _stays_share(op, value) for op in inner) else None
            )
        case Op(inputs=(first, *_)) if value.name in CLAMPS:
            inner = _makers(first)
            return None if inner is None or any(meaning(op) is Meaning.LOGITS for op in inner) else inner
        case Op(name="+", inputs=(first, Constant(value=float() | int() as small))) if abs(small) < _SMALL:
            return _makers(first)
        case Op(name="+", inputs=(_, _)):
            summands = [one for one in value.inputs if not _is_weight(one)]
            found = [_makers(one) for one in summands]
            are_logits = [one is not None and all(map(_is_of_logits, one)) for one in found]
            return (value,) if are_logits and all(are_logits) else None
        case Op(inputs=(_, _)) if plain(value) == "@" and any(map(_is_weight, value.inputs)):
            return (value,)
        case Op(inputs=(_, second)) if plain(value) in _PRODUCTS:
            rows = _makers(second)
            return (value,) if rows and all(map(_is_of_logits, rows)) else None
    return None


def _is_room(op: Op) -> bool:
    """Whether a tensor was made to be filled part by part: `scores = torch.zeros(steps, n, k)`, and then `scores[t] = ...`."""
    made: Value = op
    while isinstance(made, Op) and made.name in KEEPS and made.inputs and (made is op or not made.written):
        made = made.inputs[0]
    is_empty = isinstance(made, Op) and made.name in _ROOM
    return is_empty and all(one.name == "setitem" and len(one.inputs) == 3 for one in op.written)


def _stays_share(op: Op, average: Op) -> bool:
    """Whether an average of probabilities, as of several models or views, is one too: it is not taken over the classes."""
    if op.name not in _OVER_CLASSES:
        return op.name in _OF_EACH
    classes, averaged = constant(op.option(1, "dim")), constant(average.option(1, "dim"))
    return isinstance(classes, int) and isinstance(averaged, int) and classes != averaged


def _is_of_logits(op: Op) -> bool:
    return meaning(op) is Meaning.LOGITS


def _is_weight(value: Value) -> bool:
    """Whether a value is a parameter of the program, as it is or turned."""
    while isinstance(value, Op) and value.name in ("t", "T", "mT", "transpose", "permute") and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Op) and value.name == PARAMETER


def _of_each(values: Iterable[Value]) -> tuple[Op, ...] | None:
    found: dict[Op, None] = {}
    for one in values:
        inner = _makers(one)
        if inner is None:
            return None
        found |= dict.fromkeys(inner)
    return tuple(found)


@question(start=None, unknown=None)
def meaning(op: Op) -> Meaning | None:
    """What an operation's result means; None where that is not known."""
    if op.name in MAKES:
        return MAKES[op.name]
    if op.name in TURNS:
        inner = makers(op.inputs[0]) if op.inputs else None
        meanings = {meaning(one) for one in inner} if inner else {None}
        only = meanings.pop() if len(meanings) == 1 else None
        return TURNS[op.name].get(only) if only is not None else None
    is_logits = op.name == "+" or plain(op) in _PRODUCTS  # `_makers` gives no others
    return Meaning.LOGITS if is_logits else None


def origins(value: Value | None) -> Iterator[tuple[Meaning, Op]]:
    """What a tensor means, with the operation that made it so; nothing where that is not certain.

    Of several models that an option chooses between, each is a program of its own and speaks for itself. Of the
    branches inside one model, nobody knows which is taken: there, all must agree.
    """
    for way in _models(value):
        found = makers(way) or ()
        meanings = {meaning(op) for op in found}
        only = meanings.pop() if len(meanings) == 1 else None
        if only is not None:
            yield from ((only, op) for op in found)


def is_one_of_several(value: Value | None) -> bool:
    """Whether a tensor is the output of one of several models, or last layers, that an option chooses between."""
    return len(_models(value)) > 1


def _models(value: Value | None) -> list[Value | None]:
    """A value for each model that it may be the output of."""
    while isinstance(value, Op) and value.name in KEEPS and value.name != "output" and value.inputs:
        if value.written:
            break
        value = value.inputs[0]
    if isinstance(value, Choice):
        options = [option for _, option in value.options]
        owners = {
            option.owner.uid for option in options if isinstance(option, Op) and option.owner is not None
        }
        if len(owners) == len(options) and not _is_by_mode(value):
            return list(options)
    return [value]


def _is_by_mode(value: Choice) -> bool:
    """Whether a model gives one thing in training and another in evaluation."""
    return any(ask_for_mode(guards) for guards, _ in value.options)


def _is_placeholder(value: Value) -> bool:
    return isinstance(value, (Constant, Unknown)) or (isinstance(value, Items) and not value.items)
