"""Which values certainly are tensors of torch's."""

from __future__ import annotations

from trainlint.facts.api import torch_api as api
from trainlint.facts.model.values import Choice, Object, Op, Value

_TENSOR_MAKERS = frozenset(
    (
        *api.MAKES,
        *(api.CREATES - {"manual_seed", "device"}),
        *api.LOSS_FUNCTIONS,
        *(api.REBUILDS - {"Tensor"}),
        api.PARAMETER,
    )
)
_ARITHMETIC = frozenset(
    "+ - * / @ ** % // matmul bmm mm mean sum pow exp log sqrt abs relu tanh where".split()
)


def is_tensor(value: Value, depth: int = 0) -> bool:
    """Whether a value certainly is a tensor of torch's."""
    if depth > 20:
        return False
    match value:
        case Op(name="output" | "alias"):
            return is_tensor(value.inputs[0], depth + 1)
        case Op(name="iterate", inputs=(Op(name="parameters", inputs=(Object() as holder,)),)):
            return holder.is_a(api.MODULE)
        case Op(name="grad"):
            return is_tensor(value.inputs[0], depth + 1)
        case Op(name="getitem", inputs=(Op(name="iterate", inputs=(Object() as loader,)),)):
            return loader.is_a(api.LOADER)
        case Op() if value.owner is not None and value.owner.type.startswith("torch.nn."):
            return value.name in api.MAKES or value.owner.type.removeprefix("torch.nn.") in _ONE_TENSOR
        case Op() if value.name in _TENSOR_MAKERS:
            return True
        case Op() if value.name in api.KEEPS:
            return bool(value.inputs) and is_tensor(value.inputs[0], depth + 1)
        case Op() if value.name in _ARITHMETIC:
            return any(is_tensor(one, depth + 1) for one in value.inputs)
        case Choice():
            return all(is_tensor(one, depth + 1) for _, one in value.options)
    return False


_ONE_TENSOR = frozenset(
    "ReLU LeakyReLU GELU SiLU ELU Tanh Dropout Dropout2d BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm "
    "Embedding MaxPool1d MaxPool2d AvgPool2d AdaptiveAvgPool2d Flatten Identity Upsample".split()
)
"""Layers that give one tensor."""
