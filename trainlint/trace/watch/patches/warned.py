"""Warnings: they come from where they would come from without us, and are facts, unless the program catches them."""

from __future__ import annotations

import functools
import re
import warnings
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from trainlint.facts.api.second_names import DEPRECATED_AMP
from trainlint.facts.model.events.calls import Called, LibraryCall
from trainlint.facts.seen.raised import Warned
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap
from trainlint.trace.watch.warned import moved

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_DEPRECATED = re.compile(r"`(torch\.(?:cuda|cpu)\.amp\.\w+)")


def patch(recorder: Recorder, undo: ExitStack) -> None:
    replace(undo, warnings, "_showwarnmsg", _showing(recorder))


def _showing(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        shown = getattr(warnings, "_showwarnmsg_impl", None)
        is_moving = False

        @functools.wraps(original)
        def _showwarnmsg(message: Any) -> None:
            nonlocal is_moving
            if not is_moving:
                is_moving = True
                try:
                    if moved(message):
                        return
                finally:
                    is_moving = False
            if recorder.listens and getattr(warnings, "_showwarnmsg_impl", None) is shown:
                with recorder.careful:
                    _warned(recorder, message)
            original(message)

        return _showwarnmsg

    return wrap


def _warned(recorder: Recorder, message: Any) -> None:
    frame = recorder.frame()
    place, text = recorder.at(frame), str(message.message)
    recorder.fact(Warned(place, message.category.__name__, text), (place, text))
    if text.startswith("torch.utils.checkpoint: the use_reentrant"):
        recorder.emit(Called, frame, text, name="torch.utils.checkpoint.checkpoint")
    deprecated = _DEPRECATED.search(text)
    if deprecated and deprecated[1] in DEPRECATED_AMP:
        recorder.emit(LibraryCall, frame, deprecated[1], name=deprecated[1], text=deprecated[1])
