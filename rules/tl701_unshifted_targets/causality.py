"""What keeps later tokens out of sight."""

from __future__ import annotations

from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.api.torch_names import shifts_labels
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.values import Object, Op, Value, constant


def causal_by(prediction: Value) -> Op | None:
    """What keeps a model from seeing what comes after each position: its mask, or a recurrent layer of one direction."""
    for one in made_of(prediction):
        if not isinstance(one, Op):
            continue
        if one.name in ("tril", "triu") or one.name.endswith("generate_square_subsequent_mask"):
            return one
        if constant(one.options.get("is_causal")) is True or shifts_labels(one.name):
            return one
        if one.name in RECURRENT and one.owner is not None and not _is_bidirectional(one.owner):
            return one
    return None


def _is_bidirectional(layer: Object) -> bool:
    given = layer.options.get("bidirectional")
    return layer.is_open or not (given is None or constant(given) is False)
