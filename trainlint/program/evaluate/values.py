"""Values that only matter while source is evaluated: code, names of libraries, things bound to each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from trainlint.facts.model.values import Constant, Named, Value
from trainlint.program.source import syntax as s


@dataclass(eq=False, repr=False)
class Env:
    """A scope of names. A class body's names are not seen from the functions inside it."""

    uid: int
    path: str
    parent: Env | None = None
    is_class: bool = False
    declared: dict[str, Env] = field(default_factory=dict)
    """Names that `global` or `nonlocal` send elsewhere."""
    is_kept: bool = False
    """Whether a function or a class was defined in it, or in a scope inside, and may ask for its names later."""

    def keep(self) -> None:
        """Something that outlives the evaluated code may ask for the names of this scope."""
        env: Env | None = self
        while env is not None and not env.is_kept:
            env.is_kept = True
            env = env.parent


_OF_FUNCTIONS = tuple(
    f"{name}."
    for name in "torch torchvision torchaudio numpy os sys typing builtins math random time".split()
)
"""Libraries of which what a condition asks for is there."""


@dataclass(eq=False, repr=False)
class Library(Named):
    """A name of code that is not part of the program: `torch.nn.functional.softmax`."""

    is_held: bool = False
    """Whether it is read as an attribute: of a module that is not in sight, it may be a setting."""

    @property
    def may_be_a_setting(self) -> bool:
        """Whether it may be false, or None, as `FLAGS.verbose` and `config.seed` may, and no function of torch's."""
        return self.is_held and not self.name.startswith(_OF_FUNCTIONS)


@dataclass(eq=False, repr=False)
class FileModule(Value):
    """A module of the program, by its file."""

    path: str = ""


@dataclass(eq=False, repr=False)
class Imported(Value):
    """`from module import name`, looked up when it is used.

    Args:
        before: what the name meant before a star import, and still means if that leads back to where it stands, as between two
            files that import all of each other.
    """

    path: str = ""
    name: str = ""
    before: Value | None = None


@dataclass(eq=False, repr=False)
class FunctionValue(Value):
    """A function of the program, in the scope where it was defined."""

    code: s.Function = field(default=None)  # type: ignore[assignment]
    env: Env = field(default=None)  # type: ignore[assignment]
    owner: ClassValue | None = None
    kind: str = "function"
    """Or "property", "static", "class", by its decorator."""
    records: bool | None = True
    """False under `@torch.no_grad()`; None where a decorator is unknown."""
    autocast: tuple[Value, ...] = ()
    """The regions of autocast that its decorators make of it."""
    defaults: dict[str, Value] = field(default_factory=dict)
    is_context: bool = False
    wraps: FunctionValue | None = None
    """The function that a decorator made it for."""
    setter: FunctionValue | None = None
    """What a property calls when it is set."""

    @property
    def origin(self) -> FunctionValue:
        """The function as it was written, without what decorators have put around it."""
        found = self
        while found.wraps is not None:
            found = found.wraps
        return found

    def recording(self, records: bool | None) -> FunctionValue:
        """The same function as `torch.no_grad()(function)` gives it: what is inside records, or not."""
        return replace(self, records=records)


@dataclass(eq=False, repr=False)
class ClassValue(Value):
    """A class of the program."""

    code: s.Class = field(default=None)  # type: ignore[assignment]
    env: Env = field(default=None)  # type: ignore[assignment]
    bases: tuple[Value, ...] = ()
    library_bases: frozenset[str] = frozenset()
    has_unknown_base: bool = False
    is_dataclass: bool = False
    fields: tuple[str, ...] = ()
    """Annotated names of the body in order, those of base classes first."""
    answers: frozenset[str] = frozenset()
    """Attributes for which the class, or one that it inherits from, has code of its own: properties that can be set, and
    `__getattr__` and its like."""


@dataclass(eq=False, repr=False)
class Bound(Value):
    """A method of something: a function of the program with its receiver, or a name still to be judged."""

    receiver: Value = field(default_factory=Value)
    name: str = ""
    function: FunctionValue | None = None


@dataclass(eq=False, repr=False)
class ModeBefore(Constant):
    """`model.training`, as a program reads it: training mode, as far as it decides anything, unless `eval()` comes right before."""


@dataclass(eq=False, repr=False)
class Partial(Value):
    """`functools.partial`, and `functools.partialmethod` in a class."""

    function: Value = field(default_factory=Value)
    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    is_method: bool = False


@dataclass(eq=False, repr=False)
class Super(Value):
    """`super()` inside a method of `owner`."""

    owner: ClassValue | None = None
    receiver: Value = field(default_factory=Value)


@dataclass
class Arguments:
    """The arguments of a call.

    Args:
        open: whether `*args` or `**kwargs` of unknown content are among them.
        mappings: what `**` takes arguments out of, where it is not known which these are: the `batch` of `model(**batch)`.
    """

    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    open: bool = False
    mappings: tuple[Value, ...] = ()

    def all(self) -> tuple[Value, ...]:
        return (*self.args, *self.options.values())

    def named(self) -> dict[str, Value]:
        """What is given by name, and under `**` what more of that is taken out of."""
        return {**self.options, "**": self.mappings[0]} if self.mappings else self.options

    def after(self, first: Value) -> Arguments:
        """The same behind one more, as that of a method is."""
        return Arguments((first, *self.args), self.options, self.open, self.mappings)

    def get(self, position: int, name: str) -> Any:
        """By name or position; None where it is not given."""
        if name in self.options:
            return self.options[name]
        return self.args[position] if position < len(self.args) else None

    def first(self, *names: str) -> Value | None:
        """The first argument, by position or by any of the names that it has; None where it is not given."""
        return (
            self.args[0]
            if self.args
            else next((self.options[one] for one in names if one in self.options), None)
        )

    def by_position(self, *names: str) -> Arguments:
        """The same, with the first argument by position, where it is given by any of the names that it has."""
        name = next((one for one in names if one in self.options), None)
        if self.args or name is None:
            return self
        rest = {key: value for key, value in self.options.items() if key != name}
        return Arguments((self.options[name],), rest, self.open)
