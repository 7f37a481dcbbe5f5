"""Calls of the program's own functions: their bodies, in place."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.nodes import Body
from trainlint.facts.model.values import Constant, Items, Object, Value, one_of
from trainlint.finding import Place
from trainlint.program.evaluate import (
    around,
    blocks,
    conditions,
    declared,
    left_to_subclasses,
    parameters,
    wrapped_names,
)
from trainlint.program.evaluate.context import Frame
from trainlint.program.evaluate.keys import INITIALISED, cached
from trainlint.program.evaluate.reach import left_out
from trainlint.program.evaluate.signatures import lacks_arguments, raises_at_once
from trainlint.program.evaluate.values import Arguments, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.keeping import is_cached

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def _cached(
    ev: Evaluator, func: FunctionValue, given: Arguments, at: s.Span, receiver: Value | None
) -> Value:
    """What a function behind a cache gives: for the same arguments the same, which no loop makes again unless it gives it
    others. Arguments that are not known are taken for the same."""
    named = [*map(_same, given.args), *((name, _same(one)) for name, one in sorted(given.options.items()))]
    key = (func.origin.env.uid, cached(func.origin.code.name, "*" if given.open else named))
    held = ev.store.get(key)
    if held is None:
        is_once = all(isinstance(one, (Constant, Object)) for one in given.all())
        with ev.inside(loops=()) if is_once else nullcontext():
            held = call_function(ev, func, given, at, receiver, is_again=True)
        ev.store.set(key, held)
    return held


def _same(value: Value) -> object:
    """What two arguments have in common that are equal."""
    return ("constant", value.value) if isinstance(value, Constant) else value.uid


def call_written(
    ev: Evaluator, func: FunctionValue, given: Arguments, at: s.Span, receiver: Value | None = None
) -> Value:
    """A call that stands in the program, with all the arguments that it has there."""
    if lacks_arguments(func, given):
        return _refused(ev, func, given, at)
    return call_function(ev, func, given, at, receiver)


def _refused(ev: Evaluator, func: FunctionValue, given: Arguments, at: s.Span) -> Value:
    """A call that raises: what follows in the program does not happen, or the exception is caught."""
    _initialised(ev, func, given)
    ev.emit(Escape, at, values=given.all())
    return ev.op("call", given.all(), at, func.code.name + "(…)")


def _initialised(ev: Evaluator, func: FunctionValue, given: Arguments) -> None:
    """A constructor that is not followed has done its part."""
    if func.origin.code.name == "__init__" and given.args:
        ev.store.set((given.args[0].uid, INITIALISED), Constant(value=True))


def call_function(
    ev: Evaluator,
    func: FunctionValue,
    given: Arguments,
    at: s.Span,
    receiver: Value | None = None,
    *,
    is_again: bool = False,
) -> Value:
    """A function of the program: its body, here and now. Beyond the limits, an unknown result.

    Args:
        is_again: it is called although a cache may hold what it gives.
    """
    written = func.origin.code
    is_constructor = written.name == "__init__"
    is_running = ev.work.active.get(_running(func), 0) >= limits.MAX_SAME_FUNCTION
    if is_running or not ev.follows():
        _initialised(ev, func, given)
        if is_running:
            ev.emit(Escape, at, values=given.all())
        else:
            left_out(ev, func, given, at)
        return ev.op("call", given.all(), at, func.code.name + "(…)")
    if raises_at_once(func, given):
        return _refused(ev, func, given, at)
    if (
        func.owner is not None
        and len(func.code.body) <= left_to_subclasses.LONGEST
        and left_to_subclasses.is_left_open(func)
    ):
        return left_to_subclasses.called(ev, func, given, at)
    if not is_constructor and ev.project.is_library_code(func.env.path, ev.env.path):
        owner = receiver if isinstance(receiver, Object) else None
        return ev.op("framework", given.all(), at, func.code.name + "(…)", owner=owner)
    if not is_again and written.decorators and is_cached(written):
        return _cached(ev, func, given, at, receiver)
    ev.reach(func.env.path, func.code)
    frame = Frame(
        ev.new_env(func.env.path, func.env),
        func.code,
        func.owner,
        receiver,
        guards=len(ev.guards),
        loops=ev.loops,
    )
    body = Body()
    call = ev.place(at) if ev.frames else None
    signal = _run(ev, func, frame, body, given, call)
    ev.last_wrapper = (call, frame.wrapper) if frame.wrapper is not None else None
    if body.body:
        ev.nodes.append(body)
    if func.code.is_generator:
        exact = frame.yields_plainly and signal is None and not func.is_context
        made = Items(items=frame.yields, exact=exact, kind="generator")
        if func.is_context:
            ev.contexts[made.uid] = around.made(ev, frame, body)
        return made
    if signal is None and frame.returns and func.code.name != "<lambda>":
        frame.returns.append((tuple(ev.guards[frame.guards :]), Constant(value=None)))
    return declared.instead(ev, func.code.returns, func.env, _returned(frame.returns))


def _run(
    ev: Evaluator, func: FunctionValue, frame: Frame, body: Body, given: Arguments, call: Place | None
) -> blocks.Signal:
    """The body of a function in a frame of its own; how it was left."""
    here, active, code = ev.here, ev.work.active, _running(func)
    active[code] = active.get(code, 0) + 1
    ev.frames.append(frame)
    try:
        with ev.inside(
            nodes=body.body,
            records=here.records if func.records is True else func.records,
            autocast=here.autocast + func.autocast,
            calls=here.calls if call is None else (*here.calls, call),
        ):
            parameters.bind_parameters(ev, func, given)
            wrapped_names.note_parameters(ev, func)
            signal = blocks.block(ev, func.code.body)
            left = ev.here.records
        if left is not here.records and func.records is True:
            ev.set_recording(left)  # `set_grad_enabled` in it holds for its caller too
        return signal
    finally:
        ev.frames.pop()
        ev.leave(frame.env)
        active[code] -= 1


def _running(func: FunctionValue) -> tuple[int, int]:
    """What tells a running function from others: one decorator makes the same of all that it decorates."""
    return id(func.code), id(func.origin.code)


def _returned(returns: list[tuple[tuple[conditions.Guard, ...], Value]]) -> Value:
    if not returns:
        return Constant(value=None)
    first = returns[0][1]
    if all(value is first for _, value in returns):
        return first
    return one_of(tuple(returns))
