"""Notes where a program uses what torch has replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import deprecated
from trainlint.facts.api.classes import SAMPLER
from trainlint.facts.model.events.calls import LibraryCall
from trainlint.facts.model.values import Constant, Object, Op, Value
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_SCHEDULER = f"{deprecated.SCHEDULERS}LRScheduler"


def note_function(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> None:
    """A function or class of a library's is called, by its canonical name."""
    found = deprecated.of_function(name, given.args, given.options, is_open=given.open)
    if found is not None and any(map(ev.is_read, deprecated.GONE_WITH.get(name, ()))):
        return
    if found is not None and (name.rpartition(".")[2] in text or not _is_local(ev, text)):
        ev.emit(LibraryCall, at, name=name, text=text, is_fallback=ev.in_fallback(), deprecated=found)


def _is_local(ev: Evaluator, text: str) -> bool:
    """Whether a call is one of a variable of the function that it stands in, such as an entry of a table of functions:
    the old name stands elsewhere."""
    called = text.removesuffix("(…)")
    return ev.env.parent is not None and ev.store.get((ev.env.uid, called)) is not None


def note_method(ev: Evaluator, receiver: Value, name: str, given: Arguments, at: s.Span, text: str) -> None:
    """A method is called of something that may be a tensor."""
    found = deprecated.of_method(name, given.args, given.options, is_open=given.open)
    if found is not None:
        ev.emit(
            LibraryCall,
            at,
            name=f"torch.Tensor.{name}",
            text=text,
            is_fallback=ev.in_fallback(),
            deprecated=found,
            receiver=receiver,
        )


def note_first(ev: Evaluator, value: Value, index: Value, at: s.Span) -> None:
    """`loss.data[0]`: the first of what may be a tensor without an axis."""
    is_first = isinstance(index, Constant) and type(index.value) is int and index.value == 0
    if is_first and isinstance(value, Op) and value.name == "data" and not ev.frames[-1].trying:
        text, name, receiver = f"{value.text}[0]", "torch.Tensor.data[0]", value.inputs[0]
        found, is_fallback = deprecated.FIRST_OF_ONE, ev.in_fallback()
        ev.emit(
            LibraryCall,
            at,
            name=name,
            text=text,
            is_fallback=is_fallback,
            deprecated=found,
            receiver=receiver,
        )


def note_scheduler(
    ev: Evaluator, scheduler: Object, name: str, given: Arguments, at: s.Span, text: str
) -> None:
    """A method of a scheduler of torch's is called from outside: `step` with the number of an epoch, and not with what
    another scheduler in its place would ask for."""
    is_counted = name != "step" or "epoch" in given.options or any(map(_counts, given.args))
    is_plain = (
        scheduler.type.startswith(deprecated.SCHEDULERS)
        and scheduler.type not in deprecated.WITH_EPOCH
        and not scheduler.type.endswith("?")  # it may be any class
    )
    if is_plain and is_counted:
        note_function(ev, f"{_SCHEDULER}.{name}", given, at, text)


def _counts(value: Value) -> bool:
    """Whether a value is the number of an iteration of a loop."""
    match value:
        case Constant(value=int()):
            return True
        case Op(name="iterate", inputs=(Op(name="range"), *_)):
            return True
        case Op(name="+" | "-", inputs=(_, Constant())):
            return _counts(value.inputs[0])
    return False


def note_constructor(ev: Evaluator, made: Object, given: Arguments, at: s.Span, text: str) -> None:
    """The program's own class calls the constructor of the library's class that it is built on."""
    own = {base for base in made.bases if base.startswith("torch.utils.data.")}
    if own == {SAMPLER}:
        note_function(ev, f"{SAMPLER}.__init__", given, at, text)
