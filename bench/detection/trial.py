"""One trial: a fresh copy of a program, edited, checked, and run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from catalogue import Program
from edits import Edit

HERE = Path(__file__).resolve().parent
_ROOT = HERE.parents[1]
_SHOWN = ("confirmed", "observed")


@dataclass(frozen=True)
class Found:
    """A finding, without the line's number, which an edit may have moved."""

    code: str
    level: str
    path: str
    text: str
    subject: str | None
    message: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.code, self.path, self.text


@dataclass(frozen=True)
class Outcome:
    """What a trial gave.

    Args:
        read: findings of `trainlint check`.
        ran: findings of `trainlint run --trace` that the run showed: confirmed or observed.
        open: findings that the run left open: undecided, or not reached.
        ending: how the recording ended.
        error: what the program, or the recorder, said when it failed.
        problems: rules or files that failed.
    """

    read: tuple[Found, ...]
    ran: tuple[Found, ...]
    open: tuple[Found, ...]
    ending: str
    error: str
    problems: tuple[str, ...]


def attempt(clones: Path, program: Program, edits: Sequence[Edit]) -> Outcome:
    """Copy, edit, check and run a program. Raises ValueError where an edit does not fit."""
    with tempfile.TemporaryDirectory(prefix="detection") as name:
        folder = Path(name) / "program"
        _copy(clones, program, folder)
        for edit in (*program.adapt, *edits):
            edit.apply(folder)
        stand_ins = [] if program.driver else [HERE / "shims"]
        check = _trainlint(folder, stand_ins, ["check", "--no-cache", "--jobs", "1", "."])
        run = _trainlint(
            folder,
            stand_ins,
            ["run", "--trace", "--no-cache", "--timeout", "100", program.script, *program.arguments.split()],
        )
    recorded = run.get("run") or {}
    ending = recorded.get("ending") or {}
    return Outcome(
        _findings(folder, check),
        _findings(folder, run, _SHOWN),
        _findings(folder, run, ("undecided", "not-reached")),
        ending.get("how", "nothing"),
        ending.get("error", "") or run.get("said", ""),
        tuple(json.dumps(one) for one in [*check.get("problems", ()), *run.get("problems", ())]),
    )


def _copy(clones: Path, program: Program, folder: Path) -> None:
    folder.mkdir()
    if program.source:
        source = clones / program.source
        for kept in program.keep or (".",):
            origin, target = source / kept, folder / kept
            if origin.is_dir():
                shutil.copytree(
                    origin, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git", "*.ipynb")
                )
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(origin, target)
    if program.driver:
        shutil.copyfile(HERE / "programs" / program.driver, folder / program.driver)
    if program.data is not None:
        program.data(folder)


def _trainlint(folder: Path, stand_ins: list[Path], arguments: list[str]) -> dict[str, object]:
    output = folder.parent / "output.json"
    output.unlink(missing_ok=True)
    options = ["--output-format", "json", "--output-file", str(output)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (*stand_ins, folder, _ROOT))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    done = subprocess.run(
        [sys.executable, "-m", "trainlint", arguments[0], *options, *arguments[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if not output.exists():
        return {"said": done.stderr[-2000:]}
    report: dict[str, object] = json.loads(output.read_text(encoding="utf-8"))
    report["findings"] = [_with_text(folder, one) for one in report["findings"]]  # type: ignore[attr-defined]
    return report


def _with_text(folder: Path, finding: dict[str, object]) -> dict[str, object]:
    path = folder / str(finding["path"])
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    line = int(str(finding["line"]))
    return {**finding, "text": lines[line - 1].strip() if 0 < line <= len(lines) else ""}


def _findings(folder: Path, report: dict[str, object], verdicts: Sequence[str] = ()) -> tuple[Found, ...]:
    found = report.get("findings", ())
    assert isinstance(found, (list, tuple))
    return tuple(
        Found(one["code"], one["level"], one["path"], one["text"], one["subject"], one["message"])
        for one in found
        if not one["suppressed"] and (not verdicts or one["verdict"] in verdicts)
    )
