"""One recording from its beginning to its facts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.blind_spots import NotBuilt
from trainlint.facts.seen.endings import Ending
from trainlint.finding import Place
from trainlint.notebook.kernel import running
from trainlint.trace.measure.experiments.all import experiments
from trainlint.trace.measure.picture import pictures
from trainlint.trace.watch.ahead import Site
from trainlint.trace.watch.assemble import assemble
from trainlint.trace.watch.patches.installed import Installed
from trainlint.trace.watch.recorder import Recorder


class Session:
    """Records from now on, until `close`. The arguments are those of `Recorder` and `Installed`."""

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
        phase: int | None = 1,
        phase_seconds: float = 0.0,
        steps_before: int = 0,
        amid: bool = False,
    ) -> None:
        self._earlier: list[Recorded] = []
        """The phases that are over."""
        self._awaited: Site | None = None
        self._folder = folder or os.getcwd()
        self.kernel = running()
        """The notebook that runs, if one does."""
        if self.kernel is not None:
            self.kernel.begin(self._folder)
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
            phase_seconds=phase_seconds,
            phase_over=self._phase_over,
            steps_before=steps_before,
            kernel=self.kernel,
        )
        self._installed: Installed | None = Installed(self.recorder, amid=amid)

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
        """What was recorded, and how it ended: of the first phase, which holds the later ones."""
        earlier, ending = self._earlier, self._ending(how, error, at, children)
        if not earlier:
            return assemble(self.recorder, ending, self._folder, extra)
        if not self.recorder.steps.awaits_next:
            phases = [*earlier, assemble(self.recorder, ending, self._folder, extra)]
        elif how in ("recorded", "finished"):
            phases = earlier
            if how == "recorded" and self._awaited is not None:
                left = NotBuilt(*self._awaited)
                phases = [*earlier[:-1], replace(earlier[-1], seen=(*earlier[-1].seen, left))]
        else:
            ended = replace(earlier[-1].ending, how=how, error=error, at=at, children=children)
            phases = [*earlier[:-1], replace(earlier[-1], ending=ended)]
        lines = frozenset().union(*(one.lines for one in phases), self.recorder.lines)
        return replace(phases[0], later=tuple(phases[1:]), lines=lines)

    def _phase_over(self, awaited: Site) -> None:
        """All of a phase is recorded, and the program will build another optimizer: keep what there is."""
        recorder = self.recorder
        self._awaited = awaited
        recorder.is_on = False
        try:
            extra = [*experiments(recorder), *pictures(recorder)]
            self._earlier.append(assemble(recorder, self._ending("recorded"), self._folder, extra))
        finally:
            recorder.is_on = True

    def _ending(self, how: str, error: str = "", at: Place | None = None, children: int = 0) -> Ending:
        """How the present phase ended."""
        steps = self.recorder.steps
        return Ending(
            how=how,
            steps=steps.done,
            backwards=steps.backwards,
            forwards=steps.forwards,
            by_hand=steps.by_hand.updates,
            by_hand_at=steps.by_hand.at,
            after=steps.before,
            unrecorded=steps.unrecorded,
            children=children,
            error=error,
            at=at,
            seconds=time.perf_counter() - self._began,
        )
