"""Recording a step from inside a program: in a notebook, a test, or a training loop of one's own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from trainlint.check.analysis import Source, analyse
from trainlint.check.ignore import silence
from trainlint.check.select import Selection, selected
from trainlint.check.verdict import joined, not_checked
from trainlint.facts.model.recorded import Recorded
from trainlint.finding import Finding, Problem
from trainlint.judging import judged
from trainlint.notebook.in_cells import in_cells
from trainlint.notebook.kernel import Kernel
from trainlint.output.html import html
from trainlint.output.layout import Layout
from trainlint.output.step_report import step_report
from trainlint.output.style import Piece, coloured, plain
from trainlint.output.text import closing, text
from trainlint.output.writing import write_file
from trainlint.program.incremental.cache import InProcess
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report
from trainlint.trace.launch.session import Session
from trainlint.trace.launch.supported import require_torch
from trainlint.trace.measure.experiments.all import experiments

if TYPE_CHECKING:
    from rich.text import Text


_COLUMNS = 110
_FOUND = InProcess()


class StepReport:
    """What a recorded step has shown. Prints as text, and shows itself as HTML in a notebook.

    Args:
        findings: what is wrong, by place, each with its verdict and evidence; nothing that the run refuted.
        run: the facts behind them.
    """

    def __init__(self, report: Report, texts: SourceTexts) -> None:
        self._report = report
        self._texts = texts
        self.findings: list[Finding] = report.standing

    @property
    def run(self) -> Recorded:
        run = self._report.run
        assert run is not None
        return run

    def __str__(self) -> str:
        return plain(self._pieces())

    __repr__ = __str__

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text.from_ansi(coloured(self._pieces()))

    def _repr_html_(self) -> str:
        return html(self._pieces())

    def save(self, file: str | Path) -> None:
        """Write the step as one HTML file to look at, as `trainlint run --report` does. Raises UsageError where it cannot be
        written."""
        from trainlint.html_report.page import page

        write_file(Path(file), page(self._report, self._texts.lines))

    def _pieces(self) -> Iterator[Piece]:
        yield from text(self._report, self._texts.lines, Layout(columns=_COLUMNS, whole=True))
        yield from step_report(self.run, self._report.not_checked)
        yield Piece(closing(self._report))


Check = Callable[[tuple[str, ...], SourceTexts], Sequence[Finding]]


def checked(paths: tuple[str, ...], texts: SourceTexts) -> Sequence[Finding]:
    """What the source says of files, and of notebooks."""
    sources = [Source(path, texts.program(path)[0]) for path in paths]
    return analyse(sources, jobs=1, cache=_FOUND, enters_imported=False).findings if sources else ()


def reported(
    recorded: Recorded, began: float, *, kernel: Kernel | None = None, check: Check = checked
) -> StepReport:
    """What the rules say of a recording, and of the source that ran.

    Args:
        began: when the recording began, by `time.perf_counter()`.
        kernel: the notebook that it was recorded in.
        check: what the source says of files.
    """
    texts = SourceTexts({kernel.path: kernel.raw} if kernel is not None else None)
    ran_in = {path for path, _ in recorded.lines}
    paths = tuple(sorted(path for path in ran_in if path in texts.given or os.path.isfile(path)))
    problems: dict[Problem, None] = {}
    ran = judged(recorded, problems)
    read = check(paths, texts)
    found = [one for one in joined(read, ran, recorded) if one.verdict not in ("undecided", "not-reached")]
    kept = [one for one in selected(silence(found, paths, texts.source, {}), Selection()) if one.verdict]
    report = Report(
        tuple(kept),
        tuple(problems),
        len(paths),
        time.perf_counter() - began,
        recorded,
        tuple(not_checked(kept, recorded)),
    )
    return StepReport(in_cells(report, texts), texts)


class record:
    """Record what happens in a `with` block: one training step, or several.

    Nothing that the block does is changed. The recorder leaves torch when the block ends, or as soon as the
    steps are recorded. Only operations of this thread are seen.

    Args:
        steps: optimizer steps of which gradients and updates are measured.

    Raises TooOld for a torch that cannot be recorded.
    """

    def __init__(self, steps: int = 1) -> None:
        self._steps = steps
        self._session: Session | None = None
        self._recorded: Recorded | None = None
        self._began = 0.0

    def __enter__(self) -> record:
        require_torch()
        self._began = time.perf_counter()
        self._session = Session(steps=self._steps)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        session = self._session
        assert session is not None
        session.recorder.is_on = False
        extra = list(experiments(session.recorder)) if error is None else []
        session.close()
        how = "failed" if error is not None else session.recorder.how or "block"
        said = f"{type(error).__name__}: {error}" if error is not None else ""
        self._recorded = session.facts(how, error=said, extra=extra)

    def report(self) -> StepReport:
        """What the step has shown. Raises RuntimeError while the block has not ended."""
        recorded = self._recorded
        if recorded is None:
            raise RuntimeError("nothing is recorded yet: call report() after the `with` block")
        assert self._session is not None
        return reported(recorded, self._began, kernel=self._session.kernel)
