"""The tools behind the protocol, by its official SDK."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from trainlint import __version__
from trainlint.agents import tools
from trainlint.errors import UsageError

Asked = ParamSpec("Asked")
_INSTRUCTIONS = (
    "trainlint finds what silently breaks PyTorch training. Use `check` after a change of training code, `explain` "
    "for a rule, `fix` for safe fixes. `run` runs the program, so ask before."
)


def server() -> MCPServer:
    """A server that is ready to be started."""
    made = MCPServer("trainlint", version=__version__, instructions=_INSTRUCTIONS)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    made.add_tool(_said(tools.check), annotations=reads, structured_output=False)
    made.add_tool(_said(tools.explain), annotations=reads, structured_output=False)
    made.add_tool(
        _said(tools.fix),
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False),
        structured_output=False,
    )
    made.add_tool(
        _said(tools.run),
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True),
        structured_output=False,
    )
    return made


def _said(tool: Callable[Asked, str]) -> Callable[Asked, str]:
    """What cannot be done is the answer of a tool that failed."""

    @wraps(tool)
    def saying(*args: Asked.args, **kwargs: Asked.kwargs) -> str:
        try:
            return tool(*args, **kwargs)
        except UsageError as error:
            raise ToolError(str(error)) from error

    return saying
