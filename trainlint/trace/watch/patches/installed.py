"""The recorder put in place, and taken out again."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from trainlint.trace.watch.function_mode import FunctionMode
from trainlint.trace.watch.hidden import put_beneath, take_out
from trainlint.trace.watch.patches import (
    autocast,
    compiled,
    gradients,
    loaders,
    modules,
    optimizers,
    own_classes,
    scalers,
    schedulers,
    states,
    threads,
    tokenizers,
    warned,
)

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_TOPICS = (
    modules.patch,
    states.patch,
    optimizers.patch,
    schedulers.patch,
    gradients.patch,
    scalers.patch,
    loaders.patch,
    autocast.patch,
    compiled.patch,
    warned.patch,
    tokenizers.patch,
    own_classes.patch,
    threads.patch,
)


class Installed:
    """The recorder in place, until `remove`.

    Each patch says, as it is made, how it is taken back. They are taken back in the opposite order: all of them, even
    where one fails; and those that stand already, where another cannot be made.

    Args:
        amid: in the middle of a program, perhaps while an optimizer steps: whoever does that also calls
            `optimizers.before_step` and `optimizers.after_step`, because hooks cannot be changed by a hook.
    """

    def __init__(self, recorder: Recorder, *, amid: bool = False) -> None:
        self._amid = amid
        self._recorder = recorder
        self._patches = ExitStack()
        self._mode = FunctionMode(recorder)
        try:
            for patch in _TOPICS:
                patch(recorder, self._patches)
            os.register_at_fork(after_in_child=_forgetful(recorder))
            if amid:
                put_beneath(self._mode)
            else:
                optimizers.hook(recorder, self._patches)
                self._mode.__enter__()  # type: ignore[no-untyped-call]
        except BaseException:
            self._patches.close()
            raise
        recorder.begin(self._mode)

    def remove(self) -> None:
        """Leave no hook, patch or mode behind."""
        self._recorder.is_on = False
        with self._patches:
            if self._amid:
                take_out(self._mode)
            else:
                self._mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]

    def unhook(self) -> None:
        """Take out everything but the mode, which others may stand upon."""
        self._patches.close()


def _forgetful(recorder: Recorder) -> Callable[[], None]:
    """What is to be called at a fork is kept until the process ends, so it must not hold the recorder."""
    held = weakref.ref(recorder)

    def forked() -> None:
        found = held()
        if found is not None:
            found.forked()

    return forked
