"""`trainlint mcp`: what `check`, `explain`, `run` and `fix` do, for coding agents."""

from __future__ import annotations

import gc

from trainlint.cli.exits import exit_codes
from trainlint.errors import UsageError


def mcp() -> None:
    """Run a server for coding agents, over standard input and output.

    Agents start it themselves; it uses the Model Context Protocol.
    """
    with exit_codes():
        try:
            from trainlint.agents.serving import server
        except ImportError as error:
            raise UsageError("the server for agents needs the SDK: pip install 'trainlint[mcp]'") from error
        gc.enable()  # unlike a command, it stays
        server().run()
