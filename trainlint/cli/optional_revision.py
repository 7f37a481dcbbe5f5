"""An option that may stand alone: `--changed-only` is the same as `--changed-only HEAD`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

_OPTION, _DEFAULT = "--changed-only", "HEAD"


class TakesARevision(TyperCommand):
    """A command in which a revision may follow `--changed-only`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_revision(args))


def with_revision(args: Sequence[str]) -> list[str]:
    """The arguments with the revision tied to its option. A word that is a file or a folder is a path to check."""
    given = list(args)
    options = given[: given.index("--")] if "--" in given else given
    if _OPTION not in options:
        return given
    at = options.index(_OPTION)
    following = options[at + 1] if at + 1 < len(options) else "-"
    if following.startswith("-") or os.path.exists(following):
        return [*given[:at], f"{_OPTION}={_DEFAULT}", *given[at + 1 :]]
    return [*given[:at], f"{_OPTION}={following}", *given[at + 2 :]]
