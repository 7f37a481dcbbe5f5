"""Padding that the program itself names: a model is given a mask of the positions where the targets are padded."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Op, Value, alternatives, constant

_SAME_TOKENS = frozenset(
    "to cuda long int clone contiguous view reshape flatten transpose permute t squeeze unsqueeze".split()
)
_KEEPS_MASK = _SAME_TOKENS | {"bool", "float", "expand", "repeat"}
_TESTS = frozenset(("eq", "ne", "==", "!=", "not_equal"))


def named_padding(training: Training, loss: LossCall) -> tuple[Op, int] | None:
    """The comparison that makes a mask of the targets of a loss for a model, `tgt.eq(0)`, and the token that it names."""
    tokens = _tokens(loss.target)
    for mask in _masks(training) if tokens is not None else ():
        if mask.name in _TESTS and len(mask.inputs) > 1 and _tokens(mask.inputs[0]) is tokens:
            token = constant(mask.inputs[1])
            if isinstance(token, int):
                return mask, token
    return None


def _masks(training: Training) -> Iterator[Op]:
    """What models are given as masks, by name."""
    for forward in training.events(Forward):
        for output in alternatives(forward.output):
            call = output.inputs[0] if isinstance(output, Op) and output.inputs else None
            for name, given in call.options.items() if isinstance(call, Op) else ():
                if "pad" in name or "mask" in name:
                    yield from (one for one in [_without(given, _KEEPS_MASK)] if isinstance(one, Op))


def _tokens(value: Value | None) -> Value | None:
    """The tokens of which a value holds some positions, all in their order; None where any of them may be changed."""
    found = _without(value, _SAME_TOKENS)
    while isinstance(found, Op) and _is_shift(found):
        found = _without(found.inputs[0], _SAME_TOKENS)
    return None if isinstance(found, Op) and found.written else found


def _without(value: Value | None, names: frozenset[str]) -> Value | None:
    while isinstance(value, Op) and value.name in names and value.inputs and not value.written:
        value = value.inputs[0]
    return value


def _is_shift(op: Op) -> bool:
    """`tokens[:, 1:]` and the like."""
    index = op.option(1, "index") if op.name == "getitem" and not op.written else None
    parts = index.items if isinstance(index, Items) else [index]
    return all(isinstance(one, Op) and one.name == "[:]" for one in parts)
