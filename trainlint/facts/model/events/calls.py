"""Calls of libraries' functions, and settings that are assigned."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.api.deprecated import Deprecated
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Value


@dataclass(eq=False)
class LibraryCall(Event):
    """A library's function or class is used by a name that a table of the API knows.

    Args:
        name: the full dotted name, as imported.
        args: what it is given by position; `options`, by name.
        is_fallback: it stands where the program has tried, or asks for, something newer first.
        deprecated: what torch has replaced of the function, method or argument.
        receiver: for a method, what it is called on.
        records: whether autograd watches; None where that is unknown.
    """

    name: str = ""
    text: str = ""
    records: bool | None = True
    is_fallback: bool = False
    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    deprecated: Deprecated | None = None
    receiver: Value | None = None


@dataclass(eq=False)
class Called(Event):
    """A function of a library's that `torch_names.is_noted` knows is called, or a method of such a name.

    Args:
        name: the full dotted name of the function; the plain name of a method.
        args: positional arguments, the receiver first.
        is_open: arguments were given that cannot be seen, by `**options`.
        is_chosen: what is called may be another function: it was chosen elsewhere.
    """

    name: str = ""
    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    is_open: bool = False
    is_chosen: bool = False

    def argument(self, position: int, name: str) -> Value | None:
        if name in self.options:
            return self.options[name]
        return self.args[position] if position < len(self.args) else None


@dataclass(eq=False)
class CalledBack(Event):
    """A lambda or nested function is handed to code that is not in sight, and that calls it sooner or later: what it does
    follows here, as if that were now."""


@dataclass(eq=False)
class AttributeSet(Event):
    """An attribute is set that looks like `requires_grad`, and that no code reads: or that one, on a layer of torch's."""

    target: Value = field(default_factory=Value)
    name: str = ""
    value: Value = field(default_factory=Value)


@dataclass(eq=False)
class SettingChanged(Event):
    """A library's setting is assigned, such as `torch.backends.cudnn.benchmark`.

    Of an object of a library's, such as a dataset, the `transform` alone counts: then `target` is the object.
    """

    name: str = ""
    value: Value = field(default_factory=Value)
    target: Value = field(default_factory=Value)
