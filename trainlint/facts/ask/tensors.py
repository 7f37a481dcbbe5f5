"""Which values certainly are tensors of torch's."""

from __future__ import annotations

from trainlint.facts.api.classes import LOADER, MODULE, PARAMETER
from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.api.losses import LOSS_FUNCTIONS
from trainlint.facts.api.meanings import KEEPS, MAKES
from trainlint.facts.api.operations import CREATES
from trainlint.facts.ask.asking import question
from trainlint.facts.model.values import Choice, Object, Op, Value

_TENSOR_MAKERS = frozenset(
    (
        *MAKES,
        *(CREATES - {"manual_seed", "device"}),
        *LOSS_FUNCTIONS,
        *(REBUILDS - {"Tensor"}),
        PARAMETER,
    )
)
_ARITHMETIC = frozenset(
    "+ - * / @ ** % // matmul bmm mm mean sum pow exp log sqrt abs relu tanh where repeat repeat_interleave flip roll "
    "masked_fill cumsum".split()
)


@question(start=False, unknown=False, lasts=True)
def is_tensor(value: Value) -> bool:
    """Whether a value certainly is a tensor of torch's."""
    match value:
        case Op(name="output" | "alias" | "grad", inputs=(inner, *_)):
            return is_tensor(inner)
        case Op(name="iterate", inputs=(Op(name="parameters", inputs=(Object() as holder,)),)):
            return holder.is_a(MODULE)
        case Op(name="getitem", inputs=(Op(name="iterate", inputs=(Object() as loader,)),)):
            return loader.is_a(LOADER)
        case Op() if value.owner is not None and value.owner.type.startswith("torch.nn."):
            return value.name in MAKES or value.owner.type.removeprefix("torch.nn.") in _ONE_TENSOR
        case Op() if value.name in _TENSOR_MAKERS:
            return True
        case Op() if value.name in KEEPS:
            return bool(value.inputs) and is_tensor(value.inputs[0])
        case Op() if value.name in _ARITHMETIC:
            return any(map(is_tensor, value.inputs))
        case Choice():
            return all(map(is_tensor, value.parts()))
    return False


_ONE_TENSOR = frozenset(
    "ReLU LeakyReLU GELU SiLU ELU Tanh Dropout Dropout2d BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm "
    "Embedding MaxPool1d MaxPool2d AvgPool2d AdaptiveAvgPool2d Flatten Identity Upsample".split()
)
"""Layers that give one tensor."""
