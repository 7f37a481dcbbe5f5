"""What the conditions around an event say."""

from __future__ import annotations

from typing import Any, Literal

from trainlint.facts.ask.asking import question
from trainlint.facts.model.exclusive import HANDLER, OFF
from trainlint.facts.model.values import Choice, Guards, Op, Value, constant

INDEX = "index from 0"
"""What the number of an iteration is called that `enumerate` counts from 0."""

Phase = Literal["first", "last", "unknown"]


def ask_for_mode(guards: Guards) -> bool:
    """Whether conditions ask for `self.training`, which says in which mode a module is."""
    return any(_names_mode(condition) for condition, _ in guards)


def ask_for_graph(guards: Guards) -> bool:
    """Whether something only happens where a tensor has a graph: `if loss.requires_grad`."""
    return any(
        outcome and isinstance(condition, tuple) and condition[:1] == ("requires_grad",)
        for condition, outcome in guards
    )


@question(start=False, unknown=True)
def depends_on_mode(value: Value | None) -> bool:
    """Whether a value is another in training than in evaluation: it is made of `self.training`, or chosen by it."""
    match value:
        case None:
            return False
        case Choice() if any(ask_for_mode(guards) for guards, _ in value.options):
            return True
        case Op(name="getattr") if constant(value.options.get("name")) == "training":
            return True
    return any(map(depends_on_mode, value.parts()))


def ask_what_it_is(guards: Guards, value: Value) -> bool:
    """Whether conditions ask for an attribute of a value: what follows is for some of what it may be."""
    return any(
        isinstance(condition, tuple) and condition[:2] == ("builtins.hasattr", ("value", value.uid))
        for condition, _ in guards
    )


def ask_if_missing(guards: Guards) -> bool:
    """Whether something only happens where something else is not there yet: `if self.head is None`, `if not
    hasattr(self, "head")`, `if width not in self.heads`."""
    return any(_is_missing(condition, outcome) for condition, outcome in guards)


def _is_missing(condition: Any, outcome: bool) -> bool:
    match condition:
        case ("or", *parts):
            return any(_is_missing(one, outcome) for one in parts)
        case ("not", inner):
            return _is_missing(inner, not outcome)
        case ("is", _, ("constant", "None")):
            return outcome
        case ("builtins.hasattr", *_):
            return not outcome
        case ("in", _, where):
            return not outcome and where[:1] != ("constants",)
    return False


def are_of_evaluation(guards: Guards) -> bool:
    """Whether something only happens where `self.training` is false."""
    return any(
        not outcome and condition[:1] == ("getattr",) and _names_mode(condition[-1:])
        for condition, outcome in guards
        if isinstance(condition, tuple)
    )


def of_axes(guards: Guards) -> Guards:
    """Those that ask how many axes a tensor has, or for the size of one that is not the first: what stands under them is
    for some shapes only."""
    return tuple(guard for guard in guards if _asks_for_axes(guard[0]))


def _asks_for_axes(condition: Any) -> bool:
    match condition:
        case ("getitem", ("shape" | "size", _), "0") | ("size", _, ("constant", "0")):
            return False
        case ("shape" | "size" | "dim" | "ndim", *_):
            return True
        case tuple():
            return any(map(_asks_for_axes, condition))
    return False


def is_in_handler(guards: Guards) -> bool:
    """Whether something only happens where an exception has been caught."""
    return any(isinstance(condition, tuple) and condition[:1] == (HANDLER,) for condition, _ in guards)


def needs_option(guards: Guards) -> bool:
    """Whether something only happens where an option is switched on that is off by default."""
    return any(outcome and _asks_for_option(condition) for condition, outcome in guards)


def _asks_for_option(condition: Any) -> bool:
    match condition:
        case ("and", *parts):
            return any(map(_asks_for_option, parts))
    return isinstance(condition, tuple) and condition[:1] == (OFF,)


def _names_mode(condition: Any) -> bool:
    if isinstance(condition, tuple):
        return any(map(_names_mode, condition))
    return isinstance(condition, str) and condition.strip("'\"") == "training"


def needs_failed_import(guards: Guards) -> bool:
    """Whether something is only there after an import has failed."""
    return any(
        isinstance(condition, tuple) and condition[:1] == ("import fails",) and outcome
        for condition, outcome in guards
    )


def counting(guards: Guards) -> Guards:
    """Those that hold in every n-th iteration, such as `i % 4 == 0`; `i % 1 == 0` holds in each."""
    return tuple(guard for guard in guards if _counts(guard[0]))


def _counts(condition: Any) -> bool:
    match condition:
        case ("%", _, number):
            return bool(number != ("constant", "1"))
        case tuple():
            return any(map(_counts, condition))
    return False


def phase(guards: Guards) -> tuple[Phase, Any]:
    """Whether conditions hold in the first of every n iterations, `i % n == 0`, or in the last, `(i + 1) % n == 0`, and
    what the key of n is; unknown where something else may make them hold too."""
    for condition, outcome in counting(guards):
        match condition:
            case ("==", ("%", number, count), ("constant", "0")) if outcome:
                pass
            case ("%", number, count) if not outcome:
                pass
            case _:
                continue
        match number:
            case (str(name), _) if name == INDEX:
                return "first", count
            case ("+", (str(name), _), ("constant", "1")) if name == INDEX:
                return "last", count
    return "unknown", None
