"""Change the code in one small way at a time, and see whether a test notices.

    python bench/mutation.py --scratch FOLDER [--count 300] [--seed 1] [--minutes 30] [--jobs 1]
                             [--again] [--parts facts rules ...] [--write]

Nothing is changed in place: each job works in a copy of the checkout in the scratch folder. What has been done stays
there, in `results.json`, and is not done again; `--again` tries those once more that no test noticed. `--minutes` ends
a session, `--parts` tries only some parts, `--write` puts the table into docs/testing.md. Mutants that change nothing
anybody could see stand in equivalent_mutants.json, each with the reason, and are not counted.
"""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from mutants import Mutant, is_python, mutants

HERE = Path(__file__).parent.parent
DOCUMENT = HERE / "docs/testing.md"
EQUIVALENT = HERE / "bench/equivalent_mutants.json"
BEGIN, END = "<!-- mutation: begin -->\n", "<!-- mutation: end -->\n"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "work", "shared")

SCENARIOS = ("tests/test_scenarios.py",)
PAIRS = ("tests/test_rules.py", "-k", "bad_is_found")
PAGES = ("tests/test_rules.py", "-k", "page_example")
RUNS = ("tests/test_rules.py", "-k", "run_of_bad")


class Part(NamedTuple):
    """Files that are mutated, by patterns of which `*` goes across folders, and tests that speak of them: the quick
    ones first. `{code}` is that of a rule."""

    name: str
    patterns: tuple[str, ...]
    tests: tuple[tuple[str, ...], ...]


PARTS = (
    Part(
        "fixing",
        ("trainlint/program/rewrite/*.py", "trainlint/fixing/*.py", "trainlint/fix.py", "rules/*/fix.py"),
        (("tests/test_fix.py",), ("tests/test_rules.py", "-k", "fix"), ("tests/test_fix_command.py",)),
    ),
    Part(
        "rules",
        ("rules/*/rule.py",),
        (
            ("tests/test_rules.py", "-k", "{code} and (page_example or bad_is_found)"),
            SCENARIOS,
            ("tests/test_rules.py", "-k", "{code} and run_of_bad"),
        ),
    ),
    Part(
        "output",
        ("trainlint/output/*.py",),
        (
            ("tests/test_output.py", "tests/test_formats.py"),
            ("tests/test_terminal.py", "tests/test_verdicts.py", "tests/test_record.py"),
        ),
    ),
    Part(
        "cache",
        ("trainlint/cache/*.py", "trainlint/program/incremental/*.py"),
        (("tests/test_cache_folder.py", "tests/test_cache.py"), ("tests/test_incremental.py",)),
    ),
    Part(
        "trace",
        ("trainlint/trace/*.py",),
        (
            ("tests/test_verdicts.py", "tests/test_record.py"),
            ("tests/test_rules.py", "-k", "run_of_bad or page_example"),
            ("tests/test_transparent.py", "tests/test_run.py"),
        ),
    ),
    Part("facts", ("trainlint/facts/*.py",), (SCENARIOS, PAIRS, PAGES, RUNS)),
    Part(
        "program",
        ("trainlint/program/*.py",),
        (SCENARIOS, PAIRS, PAGES, ("tests/test_read.py", "tests/test_sieve.py", "tests/test_incremental.py")),
    ),
)


def part_of(path: str) -> Part | None:
    return next((one for one in PARTS if any(fnmatch.fnmatch(path, each) for each in one.patterns)), None)


def drawn(seed: int, count: int) -> list[Mutant]:
    """The first mutants of a seed, in an order in which each stays where it is while other files change."""
    found: dict[str, Mutant] = {}
    for top in ("trainlint", "rules"):
        for file in sorted((HERE / top).rglob("*.py")):
            path = file.relative_to(HERE).as_posix()
            if part_of(path) is not None:
                found.update((one.key, one) for one in mutants(path, file.read_bytes()))
    ordered = sorted(found, key=lambda key: blake2b(f"{seed} {key}".encode()).digest())
    sound = (one for key in ordered if is_python((one := found[key]).applied((HERE / one.path).read_bytes())))
    return list(itertools.islice(sound, count))


class Results:
    """What became of mutants, by key; kept in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self.by_key: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}

    def add(self, mutant: Mutant, result: str) -> None:
        with self._lock:
            self.by_key[mutant.key] = result
            self._file.write_text(json.dumps(self.by_key, indent=1, sort_keys=True))
            print(f"{result:9} {mutant.path}:{mutant.line}: {mutant.key.partition(': ')[2]}", flush=True)


class Tree:
    """A copy of the checkout in which one mutant lives at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(HERE, folder, ignore=LEFT_OUT)
        self._seconds: dict[tuple[str, ...], float] = {}

    def fate(self, mutant: Mutant) -> str:
        """`killed` where a test fails, `timed out` where the tests take ten times as long, or `survived`."""
        part = part_of(mutant.path)
        assert part is not None
        file = self.folder / mutant.path
        original = file.read_bytes()
        for tests in part.tests:
            code = file.parent.name.partition("_")[0].upper()
            chosen = tuple(one.format(code=code) for one in tests)
            limit = self._usual(chosen) * 10 + 30
            file.write_bytes(mutant.applied(original))
            try:
                if not self._passes(chosen, limit):
                    return "killed"
            except subprocess.TimeoutExpired:
                return "timed out"
            finally:
                file.write_bytes(original)
        return "survived"

    def _usual(self, tests: tuple[str, ...]) -> float:
        """How long tests take where nothing is changed; they must pass."""
        if tests not in self._seconds:
            start = time.monotonic()
            if not self._passes(tests, 3600):
                raise SystemExit(f"these tests fail without any mutant: {' '.join(tests)}")
            self._seconds[tests] = time.monotonic() - start
        return self._seconds[tests]

    def _passes(self, tests: tuple[str, ...], limit: float) -> bool:
        """Whether tests pass; where none are chosen, nothing fails."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(limit) in (0, 5)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
                process.wait()


def work(waiting: queue.SimpleQueue[Mutant], tree: Tree, results: Results, until: float) -> None:
    while time.monotonic() < until:
        try:
            mutant = waiting.get_nowait()
        except queue.Empty:
            return
        results.add(mutant, tree.fate(mutant))


def table(chosen: list[Mutant], results: Results, seed: int) -> str:
    """The share that tests notice, by part, in Markdown; mutants that were not run are not counted."""
    reasons = json.loads(EQUIVALENT.read_text())
    counts: dict[str, Counter[str]] = {}
    for one in chosen:
        part = part_of(one.path)
        assert part is not None
        result = results.by_key.get(one.key)
        if result is not None:
            result = "equivalent" if result == "survived" and one.key in reasons else result
            counts.setdefault(part.name, Counter())[result] += 1
    rows = [_row(name, counts[name]) for name in sorted(counts)]
    total = sum(counts.values(), Counter())
    run = sum(total.values())
    lines = [
        f"{run} of the first {len(chosen)} mutants of seed {seed} were run.",
        "",
        "| part | mutants | noticed | of these by time | equivalent | survived | share noticed |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *rows,
        _row("all", total),
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, counts: Counter[str]) -> str:
    noticed = counts["killed"] + counts["timed out"]
    judged = noticed + counts["survived"]
    share = f"{noticed / judged:.0%}" if judged else "-"
    shown = (judged + counts["equivalent"], noticed, counts["timed out"], counts["equivalent"])
    return f"| {name} | {' | '.join(map(str, shown))} | {counts['survived']} | {share} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--parts", nargs="*", choices=[one.name for one in PARTS])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    results = Results(given.scratch / "results.json")
    chosen = drawn(given.seed, given.count)
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for one in chosen:
        known = results.by_key.get(one.key)
        part = part_of(one.path)
        if given.parts and part is not None and part.name not in given.parts:
            continue
        if known is None or (given.again and known == "survived"):
            waiting.put(one)
    until = time.monotonic() + given.minutes * 60
    threads = [
        threading.Thread(target=work, args=(waiting, Tree(given.scratch / f"tree{number}"), results, until))
        for number in range(given.jobs if given.minutes > 0 else 0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in chosen:
        if results.by_key.get(one.key) == "survived":
            print(f"{one.path}:{one.line}: {one.key.partition(': ')[2]}")
    text = table(chosen, results, given.seed)
    print(text, end="")
    if given.write:
        before, _, rest = DOCUMENT.read_text().partition(BEGIN)
        DOCUMENT.write_text(f"{before}{BEGIN}{text}{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
