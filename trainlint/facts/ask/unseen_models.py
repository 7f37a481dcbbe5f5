"""Models whose code is not in sight, and their outputs: what their loss takes them for is what they are."""

from trainlint.facts.api.classes import MODULE, SOME_MODULE
from trainlint.facts.model.values import Object, Op, Value

_SAME = frozenset(
    "view reshape flatten squeeze unsqueeze float detach cpu cuda to contiguous clone double permute".split()
)
"""Operations that leave all numbers of one output: of several, each may mean something else."""


_MOVES = frozenset("to cuda cpu float double half bfloat16 train eval".split())
"""Methods that give the module itself."""


def made_as(model: Value) -> Value:
    """What made a model, before it was moved: the same for all that stands for it."""
    if isinstance(model, Object) and model.type == SOME_MODULE and model.stands_for is not None:
        model = model.stands_for
    while isinstance(model, Op) and model.name in _MOVES and model.inputs and model.owner is None:
        model = model.inputs[0]
    return model


def unseen_model(value: Value | None) -> Object | None:
    """The model whose output a tensor is, reshaped or moved, or handed on by a model in sight; None for one whose layers are
    known."""
    while isinstance(value, Op) and value.inputs:
        if value.owner is not None and _is_unseen(value.owner):
            return value.owner
        if value.name not in _SAME and value.name != "output":
            return None
        value = value.inputs[0]
    return None


def _is_unseen(module: Object) -> bool:
    is_of_library = module.definition is None and not module.type.startswith("torch.nn.")
    return module.type == SOME_MODULE or (is_of_library and module.is_a(MODULE))
