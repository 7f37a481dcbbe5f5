"""Puts bugs into real training programs, and counts how many trainlint finds, in source, in a run, and by either.

python bench/detection/run.py --clones CLONES --output docs/detection.md --jobs 2
python bench/detection/run.py --clones CLONES --only mnist           # programs or kinds of bugs, to the screen
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bugs import BUGS, Bug
from catalogue import PROGRAMS, Program
from page import page
from trial import Outcome, attempt
from verdicts import Trial


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--clones", type=Path, required=True, help="a folder that holds OWNER+NAME for each program"
    )
    parser.add_argument("--output", type=Path, help="where the page is written; to the screen if not given")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only programs and kinds of bugs that hold this text")
    given = parser.parse_args()
    bugs = [one for one in BUGS if given.only in one.program or given.only in one.kind]
    named = {one.program for one in bugs}
    programs = [one for one in PROGRAMS if one.name in named or given.only in one.name]
    missing = [one.source for one in programs if not (given.clones / one.source).is_dir()]
    if missing:
        sys.exit(f"not among the clones: {', '.join(missing)}")
    with ThreadPoolExecutor(given.jobs) as pool:
        clean = dict(
            zip(programs, pool.map(lambda one: _tried(given.clones, one, None), programs), strict=True)
        )
        by_name = {one.name: one for one in programs}
        outcomes = pool.map(lambda bug: _tried(given.clones, by_name[bug.program], bug), bugs)
        trials = [
            Trial(bug, outcome, clean[by_name[bug.program]])
            for bug, outcome in zip(bugs, outcomes, strict=True)
        ]
    text = page(clean, trials)
    if given.output is not None:
        before = given.output.read_text(encoding="utf-8") if given.output.exists() else ""
        _, heading, others = before.partition(
            "\n## Programs over frameworks\n"
        )  # bench/framework_detection writes it
        given.output.write_text(text.rstrip("\n") + "\n" + heading + others, encoding="utf-8")
    else:
        print(text)


def _tried(clones: Path, program: Program, bug: Bug | None) -> Outcome:
    what = f"{program.name}: {bug.kind if bug else 'unchanged'}"
    try:
        outcome = attempt(clones, program, bug.edits if bug else ())
    except ValueError as error:
        sys.exit(f"{what}: {error}")
    print(f"{what}: {outcome.ending} {outcome.error[-200:]}", file=sys.stderr, flush=True)
    return outcome


if __name__ == "__main__":
    main()
