"""`trainlint server`: what `check` finds, in an editor."""

from __future__ import annotations

import signal
import sys

import typer

from trainlint.cli.exits import CLEAN, exit_codes
from trainlint.output.writing import write

LEFT_ALONE = 1
"""As the protocol asks: the client has gone, or said so, without asking for the end first."""


def server() -> None:
    """Run a language server for editors, over standard input and output.

    Editors start it themselves; it uses the Language Server Protocol.
    """
    with exit_codes():
        from trainlint.errors import UsageError

        try:
            import pygls  # noqa: F401
        except ImportError as error:
            raise UsageError("the server needs pygls: pip install 'trainlint[server]'") from error
        import libcst  # noqa: F401  # fixes use it in one thread while another one parses: see program/parser.py

        from trainlint.server.handlers import server as language_server
        from trainlint.server.incoming import incoming

        if sys.stdin.isatty():
            write(
                "trainlint server uses the Language Server Protocol: editors start it. Ctrl-C ends it.\n",
                sys.stderr,
            )
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        given, answers = sys.stdin.buffer, sys.stdout.buffer
        sys.stdout = sys.stderr  # what anything prints is no message to the client
        session = language_server()
        session.start_io(incoming(given), answers)
        raise typer.Exit(CLEAN if session.has_ended else LEFT_ALONE)
