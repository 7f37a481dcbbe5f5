"""The page that tells what was found, in Markdown."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from catalogue import Program
from reasons import reason
from trial import Found, Outcome
from verdicts import Trial

sys.path.append(str(Path(__file__).resolve().parents[2]))

_HOW = """\
Each copy of a third-party program gets one bug by a scripted edit: an old text that must occur exactly once, and a \
new one. The copy is checked with `trainlint check`, and one step of it is recorded with \
`trainlint run --trace`, both with the default rules. A bug counts as found **in source** or **in a \
run** if a rule for this very bug reports it there, and does not report the unchanged program; a finding of \
a run counts only if it is `confirmed` or `observed`. The rules that count are listed with each \
bug in `bench/detection/bugs/`.

These programs were also used during development, and some rules and this list of bugs were changed \
after a first look at the misses: the numbers are for code that was known during development, and not a \
forecast. Bugs without harm at their place (zero weights that learn at the second step, a tensor \
on another device that causes no error) were replaced or removed. For four kinds \
(`requires_grad` on a cut loss, a step before `backward`, a missing `backward` beside others, one inverted padding mask) \
more rules count than at \
first, because their messages lead to the bug.

Data sets are replaced by small synthetic ones (`bench/detection/shims/`), sizes are small, and everything runs on \
the CPU, so that a program takes seconds. There is no accelerator: where a bug needs a second device, `meta` replaces \
it. Third-party programs are not part of this repository. Two programs are our own, around Hugging Face models \
with random weights, and one calls the Lightning module of a template. Two of the others are adapted by an \
edit each to the installed versions; one of these edits, `weights_only=False`, causes the finding of TL913 below.

To repeat it, put the clones into one folder, each as `OWNER+NAME`, and add `pip install gymnasium lightning` to the development environment:

```
python bench/detection/run.py --clones /path/to/clones --output docs/detection.md
```
"""


def page(clean: Mapping[Program, Outcome], trials: Sequence[Trial]) -> str:
    found = sum(one.by_either for one in trials)
    alarms = [(program, one) for program, outcome in clean.items() for one in _errors(outcome)]
    parts = [
        "# Bugs found in real programs",
        f"{date.today():%d %B %Y}, {_versions()}.",
        f"**{found} of {len(trials)}** injected bugs were found: {sum(one.in_source for one in trials)} in source, "
        f"{sum(one.in_run for one in trials)} in a run of one step. The {len(clean)} unchanged programs gave "
        f"**{len(alarms) or 'no'}** findings of level error.",
        "## How it was done",
        _HOW.strip(),
        "## By kind of bug",
        _by([one.bug.kind for one in trials], trials, "bug"),
        "## By program",
        _by([one.bug.program for one in trials], trials, "program"),
        "## What was missed",
        _missed(trials),
        "## The unchanged programs",
        _unchanged(clean),
    ]
    return "\n\n".join(parts) + "\n"


def _versions() -> str:
    import torch
    import transformers

    import trainlint

    return (
        f"trainlint {trainlint.__version__}, Python {platform.python_version()}, torch {torch.__version__}, "
        f"transformers {transformers.__version__}"
    )


def _by(names: Sequence[str], trials: Sequence[Trial], title: str) -> str:
    rows = []
    for name in dict.fromkeys(names):
        these = [trial for one, trial in zip(names, trials, strict=True) if one == name]
        rules = sorted(
            {found.code for one in these for found in one.named((*one.outcome.read, *one.outcome.ran))}
        )
        rows.append([name, str(len(these)), *_counts(these), ", ".join(rules)])
    rows.append(["**all**", str(len(trials)), *_counts(trials), ""])
    return _table([title, "bugs", "in source", "in a run", "by either", "rules that found it"], rows)


def _counts(trials: Sequence[Trial]) -> list[str]:
    return [
        str(sum(one.in_source for one in trials)),
        str(sum(one.in_run for one in trials)),
        str(sum(one.by_either for one in trials)),
    ]


def _missed(trials: Sequence[Trial]) -> str:
    rows = [
        [
            one.bug.kind,
            one.bug.program,
            reason(one.bug.kind, one.bug.program),
            _ending(one.outcome),
            ", ".join(one.others) or "none",
        ]
        for one in trials
        if not one.by_either
    ]
    return (
        _table(["bug", "program", "why", "how the run ended", "other rules with a finding"], rows)
        if rows
        else "Nothing."
    )


def _ending(outcome: Outcome) -> str:
    return outcome.ending + (f": {outcome.error[:90]}" if outcome.ending == "failed" else "")


def _unchanged(clean: Mapping[Program, Outcome]) -> str:
    rows = []
    for program, outcome in clean.items():
        every = {(one.code, one.level) for one in (*outcome.read, *outcome.ran)}
        told = ", ".join(f"{code} ({level})" for code, level in sorted(every))
        origin = f"{program.source.split('/')[0].replace('+', '/')}" if program.source else "ours"
        rows.append([program.name, origin, _ending(outcome), told])
    return _table(["program", "from", "how the run ended", "findings"], rows)


def _errors(outcome: Outcome) -> list[Found]:
    return [one for one in dict.fromkeys((*outcome.read, *outcome.ran)) if one.level == "error"]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(
        lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    )
