"""Numbers of tensors in the hands of Python: where they come from, and when that happens."""

from __future__ import annotations

import math

from trainlint.facts.api import noted
from trainlint.facts.api.gradients import INTEGERS
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.api.operations import CREATES
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.devices import may_ask_for_device
from trainlint.facts.model import exclusive
from trainlint.facts.model.events.operations import ToHost
from trainlint.facts.model.values import Carried, Choice, Constant, Items, Object, Op, Value

_OLD = INTEGERS | {"FloatTensor", "DoubleTensor"}
"""Constructors that make a tensor on the host, wherever the numbers come from."""

_SIZES = frozenset(("shape", "size", "len", "dim", "ndim", "numel"))


@question(start=True, unknown=False)
def is_born_on_host(value: Value) -> bool:
    """Whether a tensor was made of numbers that Python had anyway, and never was on another device."""
    match value:
        case Constant():
            return True
        case Items() | Choice() | Carried():
            return all(map(is_born_on_host, value.parts()))
        case Op(name="to" | "cuda" | "torch.nn.Parameter"):
            return False  # a parameter goes where its module goes
        case Op(name="getattr", options={"name": Constant(value="batch_sizes")}):
            return True  # of a packed sequence, for Python to loop over
        case Op(name="getitem", inputs=(Op(name=noted.PAD_PACKED),), options={"index": Constant(value=1)}):
            return True  # the lengths, which stay on the host all the way
        case Op() if value.name in _SIZES or value.name.startswith("numpy."):
            return True
        case Op() if value.name in CREATES:
            # A run on the host does not show what is moved to a device elsewhere: there, only single draws are sure.
            is_single = value.seen is None or math.prod(value.seen.shape) == 1
            return "device" not in value.options and is_single
        case Op() if value.name in _OLD and value.seen is None:
            return "device" not in value.options
        case Op(name="iterate", inputs=(Object() as loader,)):
            return loader.type == "torch.utils.data.DataLoader"  # else it may have been moved
        case Op() if value.name in ("getattr", "call", "iterate") or value.owner is not None:
            return False
        case Op(inputs=(_, *_)):
            return all(map(is_born_on_host, value.inputs))
    return False


@question(start=False, unknown=False)
def is_on_host(value: Value) -> bool:
    """Whether a tensor has just been brought to the host."""
    match value:
        case Op(name="cpu" | "numpy" | "item" | "tolist"):
            return True
        case Op(inputs=(inner, *_)) if value.name in KEEPS:
            return is_on_host(inner)
    return False


def is_in_every_forward(read: ToHost) -> bool:
    """Whether a forward in training reads these numbers whatever the options of its module are."""
    return all(_is_ordinary(condition, outcome) for condition, outcome in read.under)


def _is_ordinary(condition: object, outcome: bool) -> bool:
    match condition:
        case ("getattr", _, name) if name == "'training'":
            return outcome
        case ("is" | "isinstance" | "builtins.isinstance", *_):
            return True
    return False


def asks_for_device(guard: tuple[object, bool]) -> bool:
    """Whether a condition only asks which device there is, or whether something is wanted at all, and not how far the
    program has come."""
    match guard:
        case (("value" | exclusive.OFF, _), True):
            return True
        case (("getattr", *_), True):
            return True
        case (("==" | "!=" | "in" | "is", *_) as condition, _):
            return may_ask_for_device(condition)
    return False
