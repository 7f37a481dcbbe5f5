"""Whose an argument is: what follows a script or `-m MODULE` belongs to the program, as under `python`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand


class RunsAProgram(TyperCommand):
    """A command whose options end where the program begins."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options = [one for one in self.params if not getattr(one, "is_flag", True)]
        with_value = {name for one in options for name in one.opts}
        return super().parse_args(ctx, divided(args, with_value))


def divided(args: Sequence[str], with_value: set[str]) -> list[str]:
    """The arguments with `--` after `-m MODULE`.

    Args:
        with_value: options that take the argument after them.
    """
    position = 0
    while position < len(args):
        one = args[position]
        if one == "-m" and position + 1 < len(args):
            return [*args[: position + 2], "--", *args[position + 2 :]]
        if one.startswith("-m") and len(one) > 2:
            return [*args[: position + 1], "--", *args[position + 1 :]]
        if one == "--" or not one.startswith("-"):
            break
        position += 2 if one in with_value else 1
    return list(args)
