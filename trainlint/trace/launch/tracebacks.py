"""Exceptions of the program, shown as they would be if nobody watched. Imports no torch."""

from __future__ import annotations

import sys
import traceback
import types

from trainlint.trace.launch.frames import unwatched


def show(error: BaseException) -> None:
    """Show an exception as Python does at the end of a program."""
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as another:
        print("Error in sys.excepthook:", file=sys.stderr)
        clean(another)
        traceback.print_exception(type(another), another, another.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        traceback.print_exception(type(error), error, error.__traceback__)


def clean(error: BaseException) -> None:
    """Take our own frames out of an exception and of all that belong to it."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _without_us(one.__traceback__)
        pending += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def _without_us(found: types.TracebackType | None) -> types.TracebackType | None:
    entries = []
    while found is not None:
        entries.append(found)
        found = found.tb_next
    result: types.TracebackType | None = None
    for one in reversed(unwatched(entries, lambda entry: entry.tb_frame)):
        result = types.TracebackType(result, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return result


def last_line(error: BaseException | None) -> str:
    if error is None:
        return ""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
