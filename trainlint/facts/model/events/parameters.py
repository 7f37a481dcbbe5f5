"""What is done to parameters, and to what autograd keeps of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Op, Value


@dataclass(eq=False)
class Overwritten(Event):
    """A parameter, or what an operation has kept for the backward pass, is changed in place.

    Args:
        records: whether autograd watches.
    """

    tensor: Op = field(default_factory=Op)
    records: bool | None = True


@dataclass(eq=False)
class RequiresGrad(Event):
    """`requires_grad` is set: by `assignment`, or by `requires_grad_()` or a constructor's argument."""

    target: Value = field(default_factory=Value)
    wanted: Value = field(default_factory=Value)
    assignment: bool = True


@dataclass(eq=False)
class FrozenBefore(Event):
    """The constructor of what code out of sight has made froze this, without a condition, and no method unfreezes it."""

    target: Value = field(default_factory=Value)
    wanted: Value = field(default_factory=Value)


@dataclass(eq=False)
class GradSwitch(Event):
    """Autograd is switched on or off from here on, until something switches it again, or it may be on inside a block;
    `records` is None where the mode is computed."""

    records: bool | None = None


@dataclass(eq=False)
class ParametersRead(Event):
    """Gradients are read or parameters written by hand, past any optimizer.

    Args:
        of_gradients: whether it is gradients that are read or set; otherwise something is written in place.
        only_reads: whether a gradient is looked at that `backward()` has left, and not set.
        sets: whether a gradient is set: `p.grad = g`.
    """

    target: Value = field(default_factory=Value)
    of_gradients: bool = True
    only_reads: bool = False
    sets: bool = False


@dataclass(eq=False)
class GradientSet(Event):
    """The gradient of a parameter is replaced: `p.grad = other.grad`, or `p.grad.copy_(other.grad)`.

    Args:
        target: whose gradient: a module whose parameters are gone through, or a tensor.
        sources: whose gradients it is made of, none of them its own.
    """

    target: Value = field(default_factory=Value)
    sources: tuple[Value, ...] = ()


@dataclass(eq=False)
class ParametersListed(Event):
    """The parameters of a module are listed: it hands them on to whoever asked.

    Args:
        output: the list.
        held: the numbers of all that the module holds at this moment: what it gets later is not in the list. Empty where
            that is not known.
    """

    target: Value = field(default_factory=Value)
    output: Op = field(default_factory=Op)
    held: frozenset[int] = frozenset()
