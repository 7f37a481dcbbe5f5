"""trainlint: find what silently breaks PyTorch training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainlint.integrations.watching import watch

__all__ = ["watch"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """What comes with torch is imported when it is asked for."""
    if name == "watch":
        from trainlint.integrations.watching import watch

        return watch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext trainlint`"""
    from trainlint.notebook.extension import load

    load(shell)
