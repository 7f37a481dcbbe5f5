"""What the values of a training program are, and where they came from.

Values form a graph that points backwards: an `Op` knows its inputs. They are compared by identity.
A program read from source gives values that may be several things at once (`Choice`) or that depend
on the iteration before (`Carried`); a recorded run gives plain `Op`s.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainlint import limits
from trainlint.facts.api.classes import MODULE, OPTIMIZER
from trainlint.facts.model.exclusive import outcome_of
from trainlint.finding import Place

Guards = tuple[tuple[Any, bool], ...]
"""Conditions, as opaque keys, and how each turned out."""


@dataclass(frozen=True)
class TensorSeen:
    """A tensor as it was in a run; `numbers` are what was measured of it, by name; `node` is its autograd node."""

    shape: tuple[int, ...]
    dtype: str
    device: str
    numbers: dict[str, float] = field(default_factory=dict)
    node: str = ""


new_uid = itertools.count().__next__
"""A number that no other value has; later ones are larger."""


@dataclass(eq=False, repr=False)
class Value:
    """Anything a program can hold. `loops` are the loops on each iteration of which it is re-created."""

    uid: int = field(init=False, default_factory=new_uid)

    def __repr__(self) -> str:  # a whole value may be larger than any message
        return f"<{type(self).__name__} {self.uid}>"

    def parts(self) -> Sequence[Value]:
        """What it is directly made of."""
        return ()


@dataclass(eq=False, repr=False)
class Unknown(Value):
    """A value of which nothing is known but its identity. `text` is how the program spells it."""

    text: str = ""
    loops: tuple[int, ...] = ()
    annotation: str = ""
    """The dotted name of its declared type, where there is one."""


@dataclass(eq=False, repr=False)
class Missing(Unknown):
    """What a dict has for a key that only some ways put into it, on the others: whoever reads it there fails."""


@dataclass(eq=False, repr=False)
class Written(Unknown):
    """A formatted text, of which only the values that stand in it are known, and what it begins and ends with."""

    fields: tuple[Value, ...] = ()
    head: str = ""
    tail: str = ""


@dataclass(eq=False, repr=False)
class Constant(Value):
    """A literal. `is_default` marks one that a user of the program may override, as a command-line flag."""

    value: Any = None
    at: Place | None = None
    is_default: bool = False


@dataclass(eq=False, repr=False)
class Named(Value):
    """What a library holds under a dotted name: a function, a class, a dtype such as `torch.float16`."""

    name: str = ""


BOUNDED = "bounded"
"""The kind of a queue that lets go of what is oldest: `deque(maxlen=10)`."""


@dataclass(eq=False, repr=False)
class Items(Value):
    """A tuple, list or set. When not `exact`, its length is unknown and each item may stand many times."""

    kind: str = "list"
    items: list[Value] = field(default_factory=list)
    exact: bool = True
    open_end: bool = False
    """Whether the last item may be missing, or followed by others."""
    is_begun: bool = False
    """Whether it begins with just these items, and what follows is not seen: the `*args` of an unknown caller. With an
    `open_end`, the last item stands for what follows: `[first, second, *others]`."""
    first: int = 0
    """How many items it certainly begins with, where it is not exact for what was appended under a condition."""
    at: Place | None = None
    branch: int = 0
    """How many undecided conditions it was made under."""
    loops: tuple[int, ...] = ()
    """The loops that it was made in."""
    repeated: tuple[tuple[Place, Value], ...] = ()
    """The values that a multiplication, or a loop, has put into it several times, and where."""
    chosen_by: tuple[Value, ...] = ()
    """What a comprehension asks of each item before it takes it."""
    are_trainable: bool = False
    """Whether only those were taken that required a gradient at that moment."""

    def parts(self) -> Sequence[Value]:
        return tuple(self.items)


@dataclass(eq=False, repr=False)
class Table(Value):
    """A dict with constant keys; what was stored under unknown keys is in `others`."""

    entries: dict[Any, Value] = field(default_factory=dict)
    others: list[Value] = field(default_factory=list)
    loops: tuple[int, ...] = ()
    """The loops that it was made in."""
    made_under: Guards = ()
    """The undecided conditions under which it was made, where that is known: as long as they hold, what is done to it is
    certain."""
    made_of: tuple[Value, Value] | None = None
    """The dict that has the same keys, and the one of its values of which the one of `others` is made: as in `{key:
    value.to(device) for key, value in batch.items()}`."""
    repeated: tuple[tuple[Place, Value], ...] = ()
    """The values that a loop has put into it several times, each under a key of its own, and where."""

    def parts(self) -> Sequence[Value]:
        return (*self.entries.values(), *self.others)


@dataclass(eq=False, repr=False)
class Object(Value):
    """An instance: of a class of the program, or of a library's class by its dotted name.

    Args:
        type: dotted name of the library class, or the plain name of the program's own class.
        bases: dotted names of all library classes that it inherits from, itself included.
    """

    type: str = ""
    bases: frozenset[str] = frozenset()
    at: Place | None = None
    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    loops: tuple[int, ...] = ()
    is_open: bool = False
    """Whether its constructor was given arguments that cannot be seen."""
    told_by: str = ""
    """What says that it is there and what it is, where only its use does."""
    stands_for: Value | None = None
    """The value of unknown code that it is, where only its use shows what that is."""
    copy_of: Object | None = None
    """What `copy.deepcopy` has made it of."""
    may_be_a_function: bool = False
    """Whether all that its use shows is that it is called: it may hold no parameters, and call what it is given."""
    is_only_switched_on: bool = False
    """Of a model that nobody in sight hands over: other code of the file switches it to training mode, and nothing there
    switches any to evaluation mode."""
    is_given: bool = False
    """Whether other code has made it, and may have frozen it since: of a module by its annotation, and of its parts."""
    only_holds: bool = False
    """Of an optimizer of the program's own class that has no `step`: it holds parameters for others to use."""
    called: str = ""
    """The name that a data loader got first: of a variable, an attribute, an entry, or of the function that returns it."""
    reads: str = ""
    """What the program calls its dataset where it is made."""
    attributes: dict[str, Value] = field(default_factory=dict)
    """What its attributes held when its entry point was done."""
    calls: tuple[Place, ...] = ()
    """The calls that led to where it was made, outermost first."""
    definition: Any = None
    """What the producer of facts needs to find its methods again; not for rules."""

    @property
    def title(self) -> str:
        """What messages call it: its class, or what it is for, where only its use shows that."""
        last = self.type.rpartition(".")[2]
        if "?" in last:
            return {"Module?": "this model", "Optimizer?": "this optimizer"}.get(last, "this scheduler")
        return f"`{self.type.removeprefix('torch.')}`"

    def is_a(self, *names: str) -> bool:
        return not self.bases.isdisjoint(names)

    def argument(self, position: int, name: str) -> Value | None:
        """An argument of the constructor, by position or name; None where it was not given."""
        if name in self.options:
            return self.options[name]
        return self.args[position] if position < len(self.args) else None


@dataclass(eq=False, repr=False)
class Op(Value):
    """A value that an operation made.

    Args:
        name: the operation by its canonical name: `softmax` for `F.softmax`, `torch.softmax`,
            `x.softmax` and `nn.Softmax()`; the dotted name for what is no operation of torch's;
            `call` for a call of something unknown.
        inputs: the tensors and other positional arguments, the receiver first.
        owner: the module, loss or other object that was called.
        records: whether autograd recorded it; None where that is unknown.
        text: short source text, such as `F.softmax(…)`.
    """

    name: str = ""
    inputs: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    at: Place | None = None
    text: str = ""
    owner: Object | None = None
    records: bool | None = True
    loops: tuple[int, ...] = ()
    is_leaf: bool = False
    """The program asked for its gradient, by `requires_grad`."""
    hung_on: Value | None = None
    """The gradient function, or the parents, that the program itself hung it on, as a small autograd framework does."""
    attached: bool | None = None
    """Whether its result required a gradient, where a run has shown it."""
    in_place: bool = False
    """Whether it changed its first input, where a run has shown it, or may have, as `x += y` does to a tensor."""
    is_ignored: bool = False
    """Whether it is the result of a call with which nothing is done."""
    is_open: bool = False
    """Whether a library's module was given arguments that cannot be seen."""
    autocast: tuple[Value, ...] = ()
    """The regions of autocast that it is made in, or may be, outermost first."""
    written: tuple[Op, ...] = ()
    """What wrote into it later, oldest first; in a run, each of these gives a value of its own."""
    drawn: Value | None = None
    """What the code that puts a batch together made of this part of it, where a loader hands it out."""
    seen: TensorSeen | None = None
    """What its result was in a run."""

    def parts(self) -> Sequence[Value]:
        return (*self.inputs, *self.options.values()) if self.options else self.inputs

    def option(self, position: int, name: str) -> Value | None:
        """An argument by keyword, or by position counted with the receiver; None where not given."""
        if name in self.options:
            return self.options[name]
        return self.inputs[position] if position < len(self.inputs) else None


@dataclass(eq=False, repr=False)
class Choice(Value):
    """One of several values, each under the guards (an opaque condition, and its outcome) that lead to it."""

    options: tuple[tuple[tuple[Any, ...], Value], ...] = ()

    def parts(self) -> Sequence[Value]:
        return tuple(option for _, option in self.options)


MANY = "one of many"
"""What is called what may be so many values that they are not kept apart."""

MANY_OF = {MODULE: "one of many models", OPTIMIZER: "one of many optimizers"}
"""The same, of objects of one kind alone."""


def one_of(options: Iterable[tuple[tuple[Any, ...], Value]]) -> Value:
    """One of several values, each under the guards that lead to it; unknown where there are too many."""
    flat: dict[Any, tuple[tuple[Any, ...], Value]] = {}
    for guards, value in options:
        inner = value.options if isinstance(value, Choice) else (((), value),)
        for more, one in inner:
            same = ("constant", repr(one.value)) if isinstance(one, Constant) else one.uid
            if same in flat:
                kept = flat[same][0]
                flat[same] = (tuple(guard for guard in kept if guard in (*guards, *more)), one)
            else:
                flat[same] = ((*guards, *more), one)
    if len(flat) == 1:
        return next(iter(flat.values()))[1]
    if not 1 <= len(flat) <= limits.MAX_OPTIONS:
        return _many([value for _, value in flat.values()])
    return Choice(tuple(flat.values()))


def _many(values: Sequence[Value]) -> Unknown:
    """What stands for so many values; of models, or of optimizers, their use can still be followed."""
    objects = [one for one in values if isinstance(one, Object)]
    if objects and len(objects) == len(values):
        for kind, text in MANY_OF.items():
            if all(one.is_a(kind) for one in objects):
                return Unknown(text=text, loops=objects[0].loops)
    return Unknown(text=MANY)


@dataclass(eq=False, repr=False)
class Carried(Value):
    """A variable at the head of a loop: `start` on the first iteration, then what the last iteration left."""

    start: Value = field(default_factory=Unknown)
    back: Value | None = None
    loop: int = 0

    def parts(self) -> Sequence[Value]:
        return (self.start,) if self.back is None else (self.start, self.back)


def alternatives(value: Value | None) -> Iterator[Value]:
    """Every value that a value may be, through choices and loops."""
    if not isinstance(value, (Choice, Carried)):
        if value is not None:
            yield value
        return
    pending: list[Value] = [value]
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        if one.uid in seen:
            continue
        seen.add(one.uid)
        if isinstance(one, Choice):
            pending.extend(option for _, option in reversed(one.options))
        elif isinstance(one, Carried):
            pending.extend(part for part in (one.back, one.start) if part is not None)
        else:
            yield one


def constant(value: Value | None) -> Any:
    """The constant that a value certainly is, or None. A default that a user may override is not."""
    if isinstance(value, Constant) and not value.is_default:
        return value.value
    return None


def ways(value: Value | None, guards: Guards = ()) -> Iterator[tuple[Guards, Value]]:
    """Every value that a value may be, with the conditions that lead to it."""
    pending = [(guards, value)] if value is not None else []
    seen: set[int] = set()
    while pending:
        before, one = pending.pop()
        if one.uid in seen:
            continue
        seen.add(one.uid)
        if isinstance(one, Choice):
            pending.extend(((*before, *more), option) for more, option in reversed(one.options))
        elif isinstance(one, Carried):
            pending.extend((before, part) for part in (one.back, one.start) if part is not None)
        else:
            yield before, one


def ways_to_be(value: Value | None, wanted: object) -> Iterator[Guards]:
    """The conditions under which a value is a constant, a default that a user may override included."""
    for guards, one in ways(value):
        if isinstance(one, Constant) and type(one.value) is type(wanted) and one.value == wanted:
            yield guards


def compatible(first: Guards, second: Guards) -> bool:
    """Whether two sets of conditions can hold at once."""
    known = dict(first)
    return all(outcome_of(condition, known) in (None, wanted) for condition, wanted in second)
