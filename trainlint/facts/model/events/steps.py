"""What a step of training is made of: backward, and what is done with gradients."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Object, Value


@dataclass(eq=False)
class Backward(Event):
    """Gradients are computed for `loss`, and added to those that are there if it `accumulates`."""

    loss: Value = field(default_factory=Value)
    accumulates: bool = True
    by_framework: bool = False
    retains: Value | None = None
    """What it is told about keeping the graph; None if nothing."""
    by: Object | None = None
    """The helper of a framework that runs it, where the program calls one."""
    inputs: Value | None = None
    """What alone gets gradients; None if all that the loss is made of does."""


@dataclass(eq=False)
class OptimizerStep(Event):
    """An optimizer steps, by itself or through a gradient scaler."""

    optimizer: Value = field(default_factory=Value)
    scaler: Object | None = None


@dataclass(eq=False)
class ZeroGrad(Event):
    """Gradients are cleared: of an optimizer, of a module, or of something unknown."""

    target: Value = field(default_factory=Value)
    to_none: Value | None = None
    """What it is told about `set_to_none`; None if nothing."""


@dataclass(eq=False)
class SchedulerStep(Event):
    """A scheduler steps; `optimizer` is the one whose rate it sets.

    Args:
        told: what it is given, such as a metric or the number of an epoch; None if nothing.
    """

    scheduler: Object = field(default_factory=Object)
    optimizer: Value = field(default_factory=Value)
    told: Value | None = None


@dataclass(eq=False)
class Scheduled(Event):
    """A scheduler is made with a function of the program's, which gives a factor for each step: `LambdaLR`."""

    scheduler: Object = field(default_factory=Object)
    factor: Value = field(default_factory=Value)


@dataclass(eq=False)
class Clip(Event):
    """Gradients are clipped, by norm or by value."""

    parameters: Value = field(default_factory=Value)
    optimizer: Object | None = None
    """The optimizer that holds all of these parameters, where a run has shown it or the call names it."""
    function: str = ""
    """The dotted name of the function of torch's that does it."""


@dataclass(eq=False)
class Unscale(Event):
    scaler: Object = field(default_factory=Object)
    optimizer: Value = field(default_factory=Value)


@dataclass(eq=False)
class ScaleUpdate(Event):
    """A gradient scaler adapts its scale, after the steps of one iteration; `to` is a scale that it is given."""

    scaler: Object = field(default_factory=Object)
    to: Value | None = None
