"""`trainlint server`: what `check` finds, in an editor."""

from __future__ import annotations

import sys

from trainlint.exits import exit_codes


def server() -> None:
    """Serve an editor: findings while you type, over standard input and output.

    Editors start this themselves; it speaks the Language Server Protocol.
    """
    with exit_codes():
        from trainlint.usage_error import UsageError

        try:
            import pygls  # noqa: F401
        except ImportError as error:
            raise UsageError("the server needs pygls: pip install 'trainlint[server]'") from error
        from trainlint.server.handlers import server as language_server

        given, answers = sys.stdin.buffer, sys.stdout.buffer
        sys.stdout = sys.stderr  # what anything prints is no message to the client
        language_server().start_io(given, answers)
