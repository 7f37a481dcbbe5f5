"""Calls of modules, and what happens inside of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Object, Op, Value


@dataclass(eq=False)
class Forward(Event):
    """A module is called; `records` is whether autograd watches (None: unknown), `text` how the program spells it.

    Args:
        inputs: what it is given by position.
        named: what it is given by name, and what `**` takes more of that out of.
    """

    module: Value = field(default_factory=Value)
    inputs: tuple[Value, ...] = ()
    named: tuple[Value, ...] = ()
    output: Value = field(default_factory=Value)
    records: bool | None = True
    text: str = ""
    mode: bool | None = None
    """Whether the module was in training mode, where a run has shown it."""
    layers: int = 0
    """How many layers that depend on the mode a run has seen in this call."""
    off: tuple[str, ...] = ()
    """Those of them that were in evaluation mode, with their classes."""

    @property
    def given(self) -> tuple[Value, ...]:
        """All that it is given."""
        return (*self.inputs, *self.named)


@dataclass(eq=False)
class ForwardCalled(Event):
    """The `forward` of another module is called as a method, past the module itself and its hooks.

    Args:
        inputs: what it is given by position; empty where a run has seen it.
    """

    module: Value = field(default_factory=Value)
    inputs: tuple[Value, ...] = ()


@dataclass(eq=False)
class Dropped(Event):
    """A function with dropout in it is called in the forward of a module.

    Args:
        function: `dropout`, `dropout2d`, ..., `scaled_dot_product_attention`, `flash_attn_func`.
        share: what is dropped; None where that is left to the function.
        training: what the program says about training; None if it says nothing.
        module: the module whose forward it is.
        mode: whether that module was training, where a run has shown it.
        is_open: whether arguments were given that cannot be seen.
    """

    function: str = ""
    share: Value | None = None
    training: Value | None = None
    module: Object = field(default_factory=Object)
    mode: bool | None = None
    is_open: bool = False


@dataclass(eq=False)
class Normalised(Event):
    """A layer of batch normalisation is called; it is the owner of its output."""

    output: Op = field(default_factory=Op)


@dataclass(eq=False)
class Checkpointed(Event):
    """A part of a model is called through `torch.utils.checkpoint`, and recomputed in the backward pass.

    Args:
        inputs: what it is given by position.
        output: what it gives.
        reentrant: the argument `use_reentrant`; None where it was not given.
        segments: into how many segments a sequence of layers is divided, the last of which is not recomputed; None for
            other functions.
        records: whether autograd watches; None where that is unknown.
        is_open: whether arguments were given that cannot be seen.
    """

    inputs: tuple[Value, ...] = ()
    output: Value = field(default_factory=Value)
    reentrant: Value | None = None
    segments: Value | None = None
    records: bool | None = True
    is_open: bool = False
