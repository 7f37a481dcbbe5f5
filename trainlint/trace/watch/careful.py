"""The recorder's own mistakes and measurements: the program notices neither."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from trainlint.facts.seen.blind_spots import Missed

_MOST = 20


class Careful:
    """A `with` block in which the recorder may fail without harm to the program, and no mode of the program looks on.

    Args:
        facts: where failures are noted.
    """

    def __init__(self, facts: list[Any]) -> None:
        self._facts = facts
        self._seen: set[str] = set()
        self._paused: list[tuple[Any, AbstractContextManager[Any] | None]] = []

    def __enter__(self) -> None:
        functions = torch._C.DisableTorchFunction()
        functions.__enter__()
        dispatch = None
        if torch._C._len_torch_dispatch_stack():
            dispatch = _disable_current_modes()
            dispatch.__enter__()
        self._paused.append((functions, dispatch))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        functions, dispatch = self._paused.pop()
        if dispatch is not None:
            dispatch.__exit__(None, None, None)
        functions.__exit__(None, None, None)
        if not isinstance(error, Exception):
            return False
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        where = ""
        if traceback is not None:
            file = os.path.basename(traceback.tb_frame.f_code.co_filename)
            where = f" ({file}:{traceback.tb_lineno})"
        said = f"{type(error).__name__}: {error}".splitlines()[0] + where
        if said not in self._seen and len(self._seen) < _MOST:
            self._seen.add(said)
            self._facts.append(Missed(said))
        return True
