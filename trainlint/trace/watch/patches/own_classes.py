"""Classes of the program's own that encode texts: their `encode` is seen from the moment that they are made."""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from trainlint.trace.watch.patches.replacing import replace

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_NAME = "encode"


def patch(recorder: Recorder, undo: ExitStack) -> None:
    """Of the classes that are there, and of those that are still to be made."""
    for module in list(sys.modules.values()):
        for kind in list(getattr(module, "__dict__", {}).values()):
            if type(kind) is type and _encodes(kind) and recorder.is_own_class(kind):
                replace(undo, kind, _NAME, _encoding(recorder))
    replace(undo, builtins, "__build_class__", _building(recorder, undo))


def _encodes(kind: Any) -> bool:
    return isinstance(vars(kind).get(_NAME), types.FunctionType) and not issubclass(kind, torch.nn.Module)


def _building(recorder: Recorder, undo: ExitStack) -> Callable[[Any], Any]:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def build(body: Any, /, *args: Any, **kwargs: Any) -> Any:
            kind = original(body, *args, **kwargs)
            if (
                recorder.is_on
                and isinstance(kind, type)
                and _encodes(kind)
                and recorder.own.is_own_file(body.__code__.co_filename)
            ):
                replace(undo, kind, _NAME, _encoding(recorder))
            return kind

        return build

    return wrap


def _encoding(recorder: Recorder) -> Callable[[Any], Any]:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def encode(tokenizer: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(tokenizer, *args, **kwargs)
            text = args[0] if args else next(iter(kwargs.values()), None)
            if recorder.listens and type(text) is str:
                with recorder.careful:
                    recorder.texts.encoded_by_own(tokenizer, text, result, recorder.frame())
            return result

        return encode

    return wrap
