"""Some steps of a long run, recorded and judged while it goes on."""

from __future__ import annotations

import logging
import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from trainlint.facts.seen.history import Milestone
from trainlint.facts.trace_file import dumped
from trainlint.finding import Finding
from trainlint.integrations.milestones import milestone
from trainlint.integrations.modes import Modes
from trainlint.integrations.trackers import News, Trackers
from trainlint.output.writing import write_file
from trainlint.project.source_texts import SourceTexts
from trainlint.trace.launch.recording import StepReport, checked, reported
from trainlint.trace.launch.session import Session
from trainlint.trace.launch.supported import require_torch
from trainlint.trace.measure.experiments.all import experiments
from trainlint.trace.watch.patches import optimizers

log = logging.getLogger("trainlint")

_MOST_BACKWARDS = 10_000
"""Backward passes of one recorded step, where gradients are accumulated."""

_MOST_MILESTONES = 50

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO}


class watch:
    """Record the first steps of a training, and then each so-many-th, judge them, and log what is wrong.

    Between recorded steps, only torch's hook for optimizer steps counts them, and `Module.train` notes where it is called.
    A recorded step changes nothing and costs what `trainlint run` costs. Only the thread that enters is recorded.

    Findings go to the logger `trainlint`, each once. Into the folder go `latest.html`, the page of the last recorded step,
    and for the first recording and each with a new finding `step-N.html` and `step-N.json`, which `trainlint compare` and
    `trainlint run --from-trace` read. Under `torchrun`, each rank but the first has a folder of its own inside.

    Args:
        every: which steps are recorded later: those whose number is a multiple of this; 0 for none.
        first: how many steps are recorded at the beginning.
        folder: where pages and recordings are written; None for nowhere.
        step: optimizer steps that were taken before, in a run that resumes.
        tell: called after each recorded step with its number and what is new.
        trackers: whether findings also go to W&B, MLflow and TensorBoard, where the program has a run or a writer open.

    Raises TooOld for a torch that cannot be recorded, and ValueError for a negative number.
    """

    def __init__(
        self,
        *,
        every: int = 1000,
        first: int = 2,
        folder: str | os.PathLike[str] | None = "trainlint-reports",
        step: int = 0,
        tell: Callable[[int, Sequence[Finding]], None] | None = None,
        trackers: bool = True,
    ) -> None:
        if min(every, first, step) < 0:
            raise ValueError("every, first and step count steps: none of them is negative")
        self.step = step
        """How many optimizer steps were taken so far: those of the optimizer that has taken most."""
        self.findings: list[Finding] = []
        """What was found so far, in the order of the steps."""
        self.last: StepReport | None = None
        """The latest recorded step."""
        self._every = every
        self._first = first
        self._folder = _folder_of_rank(folder)
        self._begins_at = step
        self._tell_others = tell
        self._trackers = Trackers() if trackers else None
        self._counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._session: Session | None = None
        self._began = 0.0
        self._hooks = ExitStack()
        self._modes = Modes()
        self._said: set[object] = set()
        self._read: dict[tuple[str, ...], Sequence[Finding]] = {}
        self._milestones: deque[Milestone] = deque(maxlen=_MOST_MILESTONES)

    def __enter__(self) -> watch:
        require_torch()
        self._hooks.callback(register_optimizer_step_pre_hook(self._before_step).remove)
        self._hooks.callback(register_optimizer_step_post_hook(self._after_step).remove)
        self._modes.begin(self._hooks)
        if self._first:
            self._record(self._first)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._hooks.close()
        session = self._session
        if session is not None:
            steps = session.recorder.steps
            if steps.done or (steps.backwards and isinstance(error, Exception)):
                self._judge(error if isinstance(error, Exception) else None)
            else:
                self._drop()

    # Steps

    def _before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self._session is not None:
            optimizers.before_step(self._session.recorder, optimizer, args, kwargs)

    def _after_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        session = self._session
        if session is not None:
            optimizers.after_step(session.recorder, optimizer, args, kwargs)
            if session.recorder.how:
                self._judge()
        taken = self._counts[optimizer] = self._counts.get(optimizer, 0) + 1
        if self._begins_at + taken > self.step:
            self.step = self._begins_at + taken
            if self._every and self._session is None and (self.step + 1) % self._every == 0:
                self._record(1)

    def _record(self, steps: int) -> None:
        self._began = time.perf_counter()
        self._session = Session(steps=steps, max_wait=_MOST_BACKWARDS, steps_before=self.step, amid=True)
        self._modes.tell(self._session.recorder)

    def _drop(self) -> Session:
        session, self._session = self._session, None
        assert session is not None
        session.recorder.is_on = False
        session.close()
        return session

    # What was recorded

    def _judge(self, error: Exception | None = None) -> None:
        """Training goes on whatever happens here."""
        session = self._drop()
        try:
            self._tell(session, error)
        except Exception:
            log.exception("trainlint failed to judge a recorded step, which is a bug: please report it")

    def _tell(self, session: Session, error: Exception | None) -> None:
        recorder = session.recorder
        steps = recorder.steps
        step = steps.before + min(steps.done, self._first if steps.before == self._begins_at else 1)
        how = "failed" if error is not None else recorder.how or "block"
        said = f"{type(error).__name__}: {error}" if error is not None else ""
        is_first = not self._milestones
        extra = [*experiments(recorder)] if is_first and error is None else []
        recorded = session.facts(how, error=said, extra=extra)
        self._milestones.append(milestone(recorded, step))
        recorded = replace(recorded, seen=(*recorded.seen, *self._milestones))
        self.last = report = reported(recorded, self._began, kernel=session.kernel, check=self._check)
        new = [one for one in report.findings if _key(one) not in self._said]
        self._said.update(map(_key, new))
        self.findings += new
        log.info("step %d: recorded, %d new findings", step, len(new))
        for one in new:
            log.log(_LEVELS[one.level or "error"], "step %d: %s", step, _sentence(one))
        self._write(report, step, whole=is_first or bool(new))
        if self._trackers is not None:
            page = self._folder / f"step-{step}.html" if self._folder is not None else None
            said_of_new = [_sentence(one) for one in new]
            self._trackers.tell(News(step, len(self.findings), said_of_new, page if new else None))
        if self._tell_others is not None:
            self._tell_others(step, new)

    def _check(self, paths: tuple[str, ...], texts: SourceTexts) -> Sequence[Finding]:
        """What a run has read does not change while it goes on."""
        if paths not in self._read:
            self._read[paths] = checked(paths, texts)
        return self._read[paths]

    def _write(self, report: StepReport, step: int, *, whole: bool) -> None:
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        report.save(self._folder / "latest.html")
        if whole:
            report.save(self._folder / f"step-{step}.html")
            write_file(self._folder / f"step-{step}.json", dumped(report.run))


def _key(finding: Finding) -> object:
    return finding.code, finding.at, finding.subject


def _sentence(finding: Finding) -> str:
    evidence = "; ".join(f"{name} = {value}" for name, value in finding.evidence.items())
    where = f"{finding.at.path}:{finding.at.line}"
    return f"{finding.code} {finding.name} at {where}: {finding.message}" + (
        f" ({evidence})" if evidence else ""
    )


def _folder_of_rank(folder: str | os.PathLike[str] | None) -> Path | None:
    rank = os.environ.get("RANK", "0")
    if folder is None or rank == "0":
        return Path(folder) if folder is not None else None
    return Path(folder, f"rank-{rank}")
