"""What torch compiles is one operation: nothing inside it is watched."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from trainlint.trace.watch.hidden import hidden
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    replace(undo, torch, "compile", _compiling(recorder))


def is_compiled(module: torch.nn.Module) -> bool:
    return (
        type(module).__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None) is not None
    )


def call_unwatched(recorder: Recorder, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call something with torch as it is when nobody watches."""
    call = vars(torch.nn.Module)["__call__"]
    torch.nn.Module.__call__ = torch.nn.Module._wrapped_call_impl  # type: ignore[method-assign]
    try:
        with hidden(recorder.mode):
            return function(*args, **kwargs)
    finally:
        torch.nn.Module.__call__ = call  # type: ignore[method-assign]


def _compiling(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def compile(model: Any = None, **kwargs: Any) -> Any:
            if model is None:
                return lambda function: compile(function, **kwargs)
            if not recorder.is_on:
                return original(model, **kwargs)
            result = call_unwatched(recorder, original, model, **kwargs)
            if isinstance(model, torch.nn.Module):
                return result

            @functools.wraps(result)
            def compiled(*args: Any, **options: Any) -> Any:
                if not recorder.listens:
                    return result(*args, **options)
                return call_unwatched(recorder, result, *args, **options)

            return compiled

        return compile

    return wrap
