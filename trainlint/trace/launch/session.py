"""One recording from its beginning to its facts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.endings import Ending
from trainlint.finding import Place
from trainlint.trace.watch.assemble import assemble
from trainlint.trace.watch.patches.installed import Installed
from trainlint.trace.watch.recorder import Recorder


class Session:
    """Records from now on, until `close`. The arguments are those of `Recorder`."""

    def __init__(
        self,
        *,
        steps: int = 1,
        root: str | None = None,
        folder: str | None = None,
        max_wait: int = 100,
        ended: Callable[[str], None] | None = None,
        waiting: Callable[[str], None] | None = None,
        skip_steps: int = 0,
        phase: int = 1,
    ) -> None:
        self._folder = folder or os.getcwd()
        self._began = time.perf_counter()
        self.recorder = Recorder(
            steps=steps,
            root=root,
            folder=self._folder,
            max_wait=max_wait,
            ended=ended,
            waiting=waiting,
            skip_steps=skip_steps,
            phase=phase,
        )
        self._installed: Installed | None = Installed(self.recorder)

    def close(self, *, keep_mode: bool = False) -> None:
        """Take the recorder out of torch. `keep_mode`: others may stand on the function mode, leave it there."""
        if self._installed is not None:
            self.recorder.is_on = False
            if keep_mode:
                self._installed.unhook()
            else:
                self._installed.remove()
            self._installed = None

    def facts(
        self,
        how: str,
        *,
        error: str = "",
        at: Place | None = None,
        children: int = 0,
        extra: Iterable[object] = (),
    ) -> Recorded:
        """What was recorded, and how it ended."""
        steps = self.recorder.steps
        ending = Ending(
            how=how,
            steps=steps.done,
            backwards=steps.backwards,
            forwards=steps.forwards,
            by_hand=steps.by_hand,
            by_hand_at=steps.by_hand_at,
            children=children,
            error=error,
            at=at,
            seconds=time.perf_counter() - self._began,
        )
        return assemble(self.recorder, ending, self._folder, extra)
