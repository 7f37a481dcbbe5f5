"""When two conditions are the same one, when one is decided, and which loops make it vary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainlint import limits
from trainlint.facts.ask.guards import INDEX
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.effort import spend
from trainlint.facts.model.exclusive import DRAWN, OFF, outcome_of
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Guards,
    Items,
    Object,
    Op,
    Table,
    Unknown,
    Value,
)
from trainlint.program.evaluate.values import ClassValue, FunctionValue, Library, ModeBefore

PURE = frozenset(
    "== != < <= > >= in is not and or + - * / // % ** getattr getitem len isinstance builtins.hasattr "
    "builtins.isinstance builtins.len size shape dim ndim requires_grad".split()
)
"""Operations that give the same result for the same inputs."""

OF_VERSION = "of a version"
"""What the key of an operation that looks at a version begins with."""

_OF_PROCESS = frozenset(
    f"torch.distributed.{name}" for name in "get_rank get_world_size is_initialized is_available".split()
)
"""Functions that give the same in all of one process, once it has joined the others."""

_LINKS = frozenset(("not", "and", "or"))
_OPPOSITES = {"!=": "==", "is not": "is", "not in": "in"}
_EQUALS = {"==": True, "is": True, "!=": False, "is not": False}
"""Comparisons for being equal, and whether they are true of what is."""
_DRAWS = frozenset(
    "rand random.random random.uniform numpy.random.rand numpy.random.random numpy.random.random_sample "
    "numpy.random.uniform".split()
)
_NUMBER_OF = frozenset("item getitem float_number builtins.float".split())
_REVERSED = {"<": ">=", "<=": ">"}
Guard = tuple[Any, bool]


def key(value: Value, depth: int = 0) -> Any:
    """Two values with the same key are equal wherever both are known."""
    if isinstance(value, Op):
        return _key_of_op(value, depth)
    match value:
        case Constant(is_default=False):
            return ("constant", repr(value.value))
        case Constant(value=False):
            return (OFF, value.uid)
        case Library():
            return ("library", value.name)
        case Items(exact=True, items=[_, *_]) if all(
            isinstance(one, Constant) and not one.is_default for one in value.items
        ):
            return ("constants", *(repr(one.value) for one in value.items if isinstance(one, Constant)))
        case Items(exact=True, items=[_, *_]) if all(isinstance(one, Library) for one in value.items):
            return ("libraries", *(one.name for one in value.items if isinstance(one, Library)))
        case Unknown() if value.text == INDEX:
            return (INDEX, value.uid)
    return ("value", value.uid)


def _key_of_op(value: Op, depth: int) -> Any:
    if value.name in PURE and depth < limits.CONDITION_DEPTH:
        parts = [key(one, depth + 1) for one in value.inputs]
        if value.options:
            parts += [repr(part.value) for part in value.options.values() if isinstance(part, Constant)]
        return (value.name, *parts)
    if _is_drawn(value):
        return (DRAWN, value.uid)
    if not value.inputs:
        return ("once", value.name) if value.name in _OF_PROCESS else ("value", value.uid)
    return (OF_VERSION if _is_of_version(value) else "result", value.uid)


def _is_drawn(value: Op) -> bool:
    """Whether it is one random number between 0 and 1: `random.random()`, `np.random.rand()`, `torch.rand(1).item()`."""
    of: Value = value
    while isinstance(of, Op) and of.name in _NUMBER_OF and of.inputs:
        of = of.inputs[0]
    if not isinstance(of, Op) or of.name not in _DRAWS:
        return False
    return of.name == "rand" or all(isinstance(one, Constant) and one.value in (0, 1) for one in of.inputs)


def _is_of_version(value: Op) -> bool:
    """Whether an operation looks at the version of something: `Version(torch.__version__)`, `torch.__version__.split(".")`."""
    first: Value = value
    for _ in range(limits.CONDITION_DEPTH):
        if not (isinstance(first, Op) and first.inputs):
            return isinstance(first, Library) and first.name.endswith("__version__")
        if first.name.endswith("_version") or "__version__." in first.name:
            return True
        first = first.inputs[0]
    return False


def guard(test: Value) -> Guard:
    """The condition without its negations, and whether the test is that condition or its opposite."""
    polarity = True
    while isinstance(test, (Op, Choice)):
        if (behind := _asks_which(test)) is not None:
            return behind[0], behind[1] == polarity
        if isinstance(test, Choice):
            break
        if test.name == "not":
            polarity, test = not polarity, test.inputs[0]
        elif test.name == "builtins.bool" and test.inputs:
            test = test.inputs[0]
        elif (flag := _compared_with_flag(test)) is not None:
            test, polarity = flag[0], flag[1] == polarity
        elif test.name in _OPPOSITES:
            return ((_OPPOSITES[test.name], *(key(one) for one in test.inputs)), not polarity)
        elif test.name in _REVERSED:
            return ((_REVERSED[test.name], *(key(one) for one in test.inputs)), not polarity)
        else:
            break
    return key(test), polarity


def _compared_with_flag(test: Op) -> tuple[Value, bool] | None:
    """What `train == True` or `train is not False` asks for, and the outcome that makes it true; None of any other test."""
    if test.name not in _EQUALS or len(test.inputs) != 2:
        return None
    one, other = test.inputs
    if not isinstance(other, Constant) or other.is_default or not isinstance(other.value, bool):
        return None
    return one, other.value == _EQUALS[test.name]


def asks_mode(test: Value) -> bool:
    """Whether a test is the mode that a module was in: `was_training`, after `was_training = self.training`."""
    if isinstance(test, ModeBefore):
        return True
    match guard(test):
        case ("getattr", *_, last), True:
            return bool(last == repr("training"))
    return False


def _asks_which(test: Value) -> Guard | None:
    """The condition behind a value that is one thing or another, where a test asks which: `made is not None` after
    `made = f() if flag else None` asks for `flag`. With the outcome that makes the test true."""
    match _outcomes(test):
        case [(((condition, outcome),), True), (((same, other),), False)] | [
            (((same, other),), False),
            (((condition, outcome),), True),
        ] if condition == same and outcome is not other:
            return condition, outcome
    return None


def _outcomes(test: Value) -> list[tuple[Guards, bool | None]]:
    """How a test comes out for each of several values that it may ask about, and what leads to them; empty for any other
    test."""
    match test:
        case Choice():
            return [(guards, truth(one, {})) for guards, one in test.options]
        case Op(
            name="is" | "is not" | "==" | "!=",
            inputs=(Choice() as choice, Constant(value=None, is_default=False)),
        ):
            wanted = test.name in ("is", "==")
            return [(guards, _agree(is_none(one), wanted)) for guards, one in choice.options]
    return []


def is_none(value: Value) -> bool | None:
    """Whether a value certainly is None, or certainly is not, whichever of several it is; None where that is open."""
    if not isinstance(value, Choice):
        return _is_nothing(value)
    found = {_is_nothing(one) for one in value.parts()}
    return found.pop() if len(found) == 1 else None


def _is_nothing(value: Value) -> bool | None:
    match value:
        case Constant(is_default=False):
            return value.value is None
        case Library():
            return None if value.may_be_a_setting else False
        case Object() | Items() | Table() | FunctionValue() | ClassValue():
            return False
        case Op() if is_tensor(value):
            return False
    return None


def _agree(found: bool | None, wanted: bool) -> bool | None:
    return None if found is None else found == wanted


def implied(test: Value, outcome: bool, own: Guard | None = None) -> Iterator[Guard]:
    """Every condition that is known once the test went one way, that of the test itself first: its `own`."""
    pending = [(test, outcome)]
    seen: set[tuple[int, bool]] = set()
    while pending and len(seen) < limits.MAX_IMPLIED:
        one, wanted = pending.pop()
        if (one.uid, wanted) in seen:
            continue
        seen.add((one.uid, wanted))
        condition, polarity = own if own is not None and one is test else guard(one)
        yield condition, polarity == wanted
        yield from _shared(guards for guards, found in _outcomes(one) if found in (wanted, None))
        if isinstance(one, Op):
            if one.name == "not":
                pending.append((one.inputs[0], not wanted))
            elif (one.name == "and" and wanted) or (one.name == "or" and not wanted):
                pending.extend((part, wanted) for part in reversed(one.inputs))


def _shared(ways: Iterable[Guards]) -> Iterator[Guard]:
    """The conditions that all ways have in common."""
    first, *others = [*ways] or [()]
    yield from (one for one in first if all(one in guards for guards in others))


def varies(value: Value) -> frozenset[int]:
    """The loops in which a condition may change from one iteration to the next."""
    found: set[int] = set()
    pending: list[Value] = [value]
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        if one.uid in seen:
            continue
        seen.add(one.uid)
        match one:
            case Carried():
                found.add(one.loop)
                pending.append(one.start)
            case Op() if one.name in PURE:
                pending.extend(one.inputs)
            case Op() | Unknown():
                found.update(one.loops)
            case Choice():
                pending.extend(option for _, option in one.options)
    return frozenset(found)


def truth(value: Value, known: Mapping[Any, bool]) -> bool | None:
    """Whether a test is true, by what it is or by what is already known; None if undecided."""
    if isinstance(value, Unknown) or (isinstance(value, Op) and value.name not in _LINKS):
        return _known(value, known)
    return _Truths(known).of(value, 0)


def truth_of_link(
    value: Op, first: bool | None, second: bool | None, known: Mapping[Any, bool]
) -> bool | None:
    """Whether `and` or `or` is true where it is known whether its operands are."""
    stop = value.name == "or"
    if stop in (first, second):
        return stop
    return not stop if first is not None and second is not None else _known(value, known)


class _Truths:
    """What is decided of the parts of one test: a condition may stand in it many times."""

    def __init__(self, known: Mapping[Any, bool]) -> None:
        self._known = known
        self._found: dict[int, bool | None] = {}

    def of(self, value: Value, depth: int) -> bool | None:
        match value:
            case Constant(is_default=False):
                return bool(value.value)
            case Items(exact=True):
                return bool(value.items)
            case Library() if value.may_be_a_setting:
                pass
            case Object() | FunctionValue() | ClassValue() | Library():
                return True
            case Table() if value.entries:
                return True
            case Op() | Choice() if depth < limits.TRUTH_DEPTH:
                if value.uid not in self._found:
                    spend()
                    self._found[value.uid] = self._of_parts(value, depth + 1)
                return self._found[value.uid]
        return _known(value, self._known)

    def _of_parts(self, value: Op | Choice, depth: int) -> bool | None:
        match value:
            case Op(name="not"):
                inner = self.of(value.inputs[0], depth)
                return None if inner is None else not inner
            case Op(name="and" | "or", inputs=(first, second)):
                return truth_of_link(value, self.of(first, depth), self.of(second, depth), self._known)
            case Choice():
                found = {self.of(one, depth) for _, one in value.options}
                if len(found) == 1 and None not in found:
                    return found.pop()
        return _known(value, self._known)


def _known(value: Value, known: Mapping[Any, bool]) -> bool | None:
    if not known:
        return None
    condition, polarity = guard(value)
    found = outcome_of(condition, known)
    return None if found is None else found == polarity
