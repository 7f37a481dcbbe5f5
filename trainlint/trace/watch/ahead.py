"""Optimizers that a running program has yet to build: in the code that comes after the line where it is."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, NamedTuple

import torch

from trainlint.finding import Place
from trainlint.trace.watch.own_code import OwnCode

_MOST_FUNCTIONS = 200
"""Functions that are looked into."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_UNKNOWN = object()

Site = tuple[str, int]
"""The shown path and the first line of a call."""


class Coming(NamedTuple):
    """A call that builds an optimizer and that may run once a program goes on.

    Args:
        site: where it is.
        is_more: whether it builds one more, even if it has built one before: in a function that is called a second
            time, or in the next round of a loop.
    """

    site: Site
    is_more: bool


def optimizers_ahead(
    frame: FrameType | None, own: OwnCode, *, rounds_differ: bool = False
) -> Iterator[Coming]:
    """The calls that build an optimizer and that may run once a frame and those above it go on.

    Args:
        rounds_differ: whether what the next round of a loop builds counts as another one: where a part of the model is
            frozen now, a later round may train it.

    Names are looked up as they are now, so what a program will only define later is not seen, and neither is a class
    that it picks by name.
    """
    frames: list[FrameType] = []
    while (frame := own.innermost(frame)) is not None:
        frames.append(frame)
        frame = frame.f_back
    looking, again = _Ahead(own, {one.f_code for one in frames}), _Ahead(own, set())
    rounds = _Ahead(own, set())
    bodies = [_body(one.f_code) or [] for one in frames]
    lines = [one.f_lineno or 1 for one in frames]
    looped = [_is_in_loop(body, line) for body, line in zip(bodies, lines, strict=True)]
    for number, (one, body, line) in enumerate(zip(frames, bodies, lines, strict=True)):
        scope = {**one.f_globals, **one.f_locals}
        for node in _after(body, line):
            begins = getattr(node, "lineno", 0)
            is_more = begins > line and not any(looped[number:])
            ahead = again if is_more else looking
            for site in ahead.sites(node, one.f_code.co_filename, scope):
                yield Coming(site, is_more)
            if rounds_differ and begins <= line and isinstance(node, _LOOPS):
                for site in rounds.sites(node, one.f_code.co_filename, scope):
                    yield Coming(site, is_more=True)


def unbuilt(
    frame: FrameType | None, own: OwnCode, built: Iterable[Place | None], *, rounds_differ: bool = False
) -> Site | None:
    """The first of these calls that has not built one yet, or is to build another one."""
    places = [at for at in built if at is not None]
    for coming in optimizers_ahead(frame, own, rounds_differ=rounds_differ):
        path, line = coming.site
        if coming.is_more or not any(at.path == path and at.line <= line <= at.end_line for at in places):
            return path, line
    return None


def _is_in_loop(body: list[ast.stmt], line: int) -> bool:
    return any(
        isinstance(node, _LOOPS) and node.lineno <= line <= (node.end_lineno or node.lineno)
        for statement in body
        for node in ast.walk(statement)
    )


class _Ahead:
    """Follows calls into the program's own functions, into each once.

    Args:
        entered: functions that are running: what comes after their present line is looked at by itself.
    """

    def __init__(self, own: OwnCode, entered: set[CodeType]) -> None:
        self._own = own
        self._entered = entered

    def sites(self, node: ast.AST, file: str, scope: Mapping[str, Any]) -> Iterator[Site]:
        for call in _calls(node):
            called = _value(call.func, scope)
            if isinstance(called, type):
                if issubclass(called, torch.optim.Optimizer):
                    yield self._own.shown(file), call.lineno
                    continue
                called = MethodType(inspect.getattr_static(called, "__init__"), called)
            yield from self._inside(called)

    def _inside(self, called: Any) -> Iterator[Site]:
        held: tuple[Any, ...] = ()
        if isinstance(called, MethodType):
            called, held = called.__func__, (called.__self__,)
        called = inspect.unwrap(called) if callable(called) else called
        if not isinstance(called, FunctionType) or not self._own.is_own_file(called.__code__.co_filename):
            return
        code = called.__code__
        body = _body(code)
        if body is None or code in self._entered or len(self._entered) >= _MOST_FUNCTIONS:
            return
        self._entered.add(code)
        scope = {**called.__globals__, **dict.fromkeys(code.co_varnames, _UNKNOWN)}
        scope.update(zip(code.co_varnames, held, strict=False))
        for node in body:
            yield from self.sites(node, code.co_filename, scope)


def _body(code: CodeType) -> list[ast.stmt] | None:
    """The statements of a function or of a file, as its source says."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    if code.co_name == "<module>":
        return tree.body
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min((node, *node.decorator_list), key=lambda one: one.lineno)
            if first.lineno == code.co_firstlineno:
                return node.body
    return None


def _after(body: list[ast.stmt], line: int) -> Iterator[ast.AST]:
    """What runs after a line: loops around it as a whole, the other statements from the line on."""
    for node in body:
        end = node.end_lineno or node.lineno
        if end < line:
            continue
        inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
        if node.lineno >= line or isinstance(node, _LOOPS) or not inner:
            yield node
        elif isinstance(node, ast.If):
            taken = node.body if line <= (node.body[-1].end_lineno or line) else node.orelse
            yield from _after(taken, line)
        else:
            yield from _after(inner, line)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls in a node, without those in functions and classes that it only defines."""
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(one, ast.Call):
            yield one
        pending.extend(ast.iter_child_nodes(one))


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """What a name stands for now, without running any code of the program's."""
    if isinstance(node, ast.Name):
        return scope.get(node.id, _UNKNOWN)
    if not isinstance(node, ast.Attribute):
        return _UNKNOWN
    held = _value(node.value, scope)
    if held is _UNKNOWN:
        return _UNKNOWN
    found = inspect.getattr_static(held, node.attr, _UNKNOWN)
    return (
        MethodType(found, held) if isinstance(found, FunctionType) and not inspect.ismodule(held) else found
    )
