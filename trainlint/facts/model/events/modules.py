"""What happens to modules, and to other objects with a state."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Guards, Object, Op, Value
from trainlint.finding import Place


@dataclass(eq=False)
class Converted(Event):
    """The parameters of a module are converted to a floating type."""

    module: Value = field(default_factory=Value)
    dtype: Value = field(default_factory=Value)


@dataclass(eq=False)
class Wrapped(Event):
    """A module is handed to what places it, and what it is called with, on devices: `name` says which."""

    module: Value = field(default_factory=Value)
    name: str = ""


@dataclass(eq=False)
class ModeChange(Event):
    """`train()` or `eval()`; `training` is None where the mode is computed."""

    module: Value = field(default_factory=Value)
    training: bool | None = True
    gives_back: bool = False
    """Whether it only gives back the mode that a module was in: `model.train(was_training)`."""


@dataclass(eq=False)
class Built(Event):
    """An object of interest is made: a module, loss, optimizer, scheduler, scaler or loader."""

    object: Object = field(default_factory=Object)
    within: Object | None = None
    """The module in whose forward it is made, where it is."""
    under: Guards = ()
    """The undecided conditions inside that forward under which it is made."""
    is_once: bool = False
    """Whether it is made there where a flag says that it has not been made, which the same branch then sets."""
    is_raw: bool = False
    """Whether it is a module whose constructor has ended without that of `nn.Module`."""


@dataclass(eq=False)
class StateTaken(Event):
    """`state_dict()` of a module hands out its weights, not a copy of them.

    Args:
        prefix: what its keys begin with, because it is of what stands for the module; `wrapped_at`, where that was made.
    """

    output: Op = field(default_factory=Op)
    prefix: str = ""
    wrapped_at: Place | None = None


@dataclass(eq=False)
class StateKept(Event):
    """What `state_dict()` has handed out becomes an attribute."""

    attribute: str = ""
    state: Op = field(default_factory=Op)


@dataclass(eq=False)
class Entrusted(Event):
    """A module becomes an attribute or an entry of something that is not in sight, which may do anything to it later on."""

    module: Object = field(default_factory=Object)


@dataclass(eq=False)
class ModelKept(Event):
    """A model becomes what another name or an attribute holds, in a loop that goes on, under a condition; the name is read
    outside of it.

    Args:
        module: the model, as it is before that loop.
        value: what may be other things later in the loop.
    """

    name: str = ""
    module: Object = field(default_factory=Object)
    value: Value = field(default_factory=Value)


@dataclass(eq=False)
class StateLoaded(Event):
    """`load_state_dict` of a module, an optimizer, or something else that has it.

    Args:
        strict: the argument of that name; None where it was not given.
        result: the keys that it reports.
        missing: how many keys of a module were not in the state; None where no run has shown it.
        unexpected: how many keys of the state were not in the module.
        keys: how many keys the state had.
        prefix: what the keys of the target begin with, because it stands for a module.
    """

    target: Value = field(default_factory=Value)
    state: Value = field(default_factory=Value)
    strict: Value | None = None
    result: Op = field(default_factory=Op)
    missing: int | None = None
    unexpected: int | None = None
    keys: int | None = None
    prefix: str = ""
    wrapped_at: Place | None = None


@dataclass(eq=False)
class Moved(Event):
    """A module or tensor is moved to a device; `waits` is False where `non_blocking=True` is asked for."""

    what: Value = field(default_factory=Value)
    device: Value = field(default_factory=Value)
    waits: bool = True


@dataclass(eq=False)
class ModuleChanged(Event):
    """A module's weights are replaced, or may be, by the function that `apply` calls; `what` is the method that does it."""

    module: Value = field(default_factory=Value)
    what: str = ""

    @property
    def draws(self) -> bool:
        """Whether the new weights are drawn, rather than given."""
        return self.what in ("reset_parameters", "apply")


@dataclass(eq=False)
class SetEarly(Event):
    """An attribute is set on a module before `nn.Module.__init__` has run; torch `registers` layers and parameters."""

    module: Object = field(default_factory=Object)
    attribute: str = ""
    registers: bool = True


@dataclass(eq=False)
class LeftAside(Event):
    """An entry point restores the state of something, and neither mentions other things that it is given nor calls what does,
    though code beside it saves the state of these.

    Args:
        names: what the program calls them.
        of_object: whether the object of a method holds them.
    """

    names: tuple[str, ...] = ()
    of_object: bool = False
