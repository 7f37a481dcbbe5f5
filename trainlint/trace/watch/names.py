"""What torch's functions are called in the vocabulary of facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_IGNORED = frozenset(
    "shape size dim ndim numel dtype device layout is_cuda is_cpu is_mps is_sparse is_quantized is_nested is_meta "
    "grad_fn is_leaf requires_grad names output_nr _version stride storage_offset is_contiguous element_size "
    "nelement data_ptr untyped_storage storage __len__ __hash__ __repr__ __format__ __bool__ __reduce_ex__ "
    "__contains__ is_floating_point is_complex is_signed is_inference is_same_size get_device nbytes itemsize "
    "_is_view _base _backward_hooks grad __get__ _set_grad_enabled kaiming_uniform_ uniform_ xavier_uniform_ "
    "constant_ normal_ trunc_normal_ zero_ ones_ xavier_normal_ kaiming_normal_ orthogonal_ eye_ dirac_ "
    "register_hook backward retain_grad __deepcopy__ __setstate__ __dir__ is_shared share_memory_ "
    "promote_types can_cast result_type __dlpack__ __array__ iinfo finfo _nnapi_ from_file "
    "__cuda_array_interface__ set_default_dtype get_default_dtype type_as_dtype is_pinned "
    "_foreach_norm _make_subclass".split()
)
"""What tells nothing of where a value comes from."""

_RENAMED = {
    "__getitem__": "getitem",
    "__setitem__": "setitem",
    "__rsub__": "-",
    "rsub": "-",
    "__rdiv__": "/",
    "__rtruediv__": "/",
    "__rpow__": "**",
    "__rmatmul__": "@",
    "__rmod__": "%",
    "__rfloordiv__": "//",
    "add": "+",
    "sub": "-",
    "subtract": "-",
    "mul": "*",
    "multiply": "*",
    "div": "/",
    "divide": "/",
    "true_divide": "/",
    "neg": "-",
    "negative": "-",
    "pow": "**",
    "__pow__": "**",
    "matmul": "@",
    "__matmul__": "@",
    "gt": ">",
    "lt": "<",
    "ge": ">=",
    "le": "<=",
    "eq": "==",
    "__eq__": "==",
    "ne": "!=",
    "__ne__": "!=",
    "__invert__": "not",
    "bitwise_not": "not",
    "logical_not": "not",
    "__and__": "and",
    "bitwise_and": "and",
    "logical_and": "and",
    "__or__": "or",
    "bitwise_or": "or",
    "logical_or": "or",
    "__float__": "float_number",
    "__int__": "int_number",
    "__index__": "int_number",
    "_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "__iter__": "unbind",
}
_REFLECTED = frozenset(
    ("__rsub__", "rsub", "__rdiv__", "__rtruediv__", "__rpow__", "__rmatmul__", "__rfloordiv__")
)
_SETTERS = {"requires_grad": "set requires_grad", "data": "set data", "grad": "set grad"}
_KEPT_UNDERSCORE = frozenset(("requires_grad_",))


class Name:
    """A function of torch's.

    Args:
        text: its canonical name; empty for functions that make no value.
        in_place: it changes its first argument.
        reflected: its operands stand in the other order, as in `1 - x`.
    """

    __slots__ = ("in_place", "reflected", "text")

    def __init__(self, text: str, in_place: bool = False, reflected: bool = False) -> None:
        self.text = text
        self.in_place = in_place
        self.reflected = reflected


def name_of(function: Callable[..., Any]) -> Name:
    """The canonical name of a function that a `TorchFunctionMode` was handed."""
    plain: str = getattr(function, "__name__", "") or ""
    if plain in ("__get__", "__set__", "__delete__"):
        attribute = getattr(getattr(function, "__self__", None), "__name__", "")
        if plain == "__get__":
            return Name(attribute if attribute in ("data", "T", "mT", "H", "mH", "real", "imag") else "")
        return Name(_SETTERS.get(attribute, "") if plain == "__set__" else "")
    if plain in _IGNORED:
        return Name("")
    if plain in ("__setitem__", "__iadd__"):
        return Name(_RENAMED.get(plain, plain), in_place=True)
    in_place = plain.endswith("_") and not plain.endswith("__")
    if plain in _KEPT_UNDERSCORE:
        return Name(plain, in_place)
    if in_place:
        plain = plain.rstrip("_")
    if (
        plain.startswith("__i")
        and plain.endswith("__")
        and plain not in ("__invert__", "__int__", "__index__")
    ):
        in_place, plain = True, f"__{plain[3:]}"
    return Name(_RENAMED.get(plain, plain.strip("_") or plain), in_place, plain in _REFLECTED)
