"""Fix copies of real repositories, and print what that came to, as it stands in docs/fixing.md.

    python bench/fixing.py FOLDER [--scratch FOLDER] [--diffs FOLDER] [NAME...]

Each folder in FOLDER is copied to the scratch folder and fixed there, all rules on: once with `--fix`, and once, from
a fresh copy, with `--fix --unsafe-fixes`. What is counted for each: fixes that are made; findings that had a fix
before and have one still; findings of any rule that were not there before; files that this Python or JSON accepts
before and not after; and files that a second run changes. All but the first should be 0. What has been done stays in
the scratch folder, in `results.json`, and is not done again. `--diffs` keeps what was changed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
MODES = {"safe": ["--fix"], "unsafe": ["--fix", "--unsafe-fixes"]}
SKIPPED = shutil.ignore_patterns(".git", ".trainlint_cache")


@dataclass
class Result:
    """Of one repository, fixed in one way."""

    rules: dict[str, int] = field(default_factory=dict)
    """How many findings of each rule, among those that had a fix, are gone."""
    files: int = 0
    fixed: int = 0
    """As trainlint says, with what was seen only after other fixes."""
    left: dict[str, int] = field(default_factory=dict)
    new: dict[str, int] = field(default_factory=dict)
    """By file and rule: lines move, these do not."""
    broken: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def trainlint(folder: Path, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trainlint", "check", ".", "--select=ALL", f"--cache-dir={cache}"]
    return subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE)},
        capture_output=True,
        text=True,
        check=False,
    )


def report(folder: Path, cache: Path, *arguments: str) -> dict[str, Any]:
    """What trainlint says in JSON, without what is silenced."""
    ran = trainlint(folder, cache, "--output-format=json", "--quiet", *arguments)
    if not ran.stdout:
        raise SystemExit(f"{folder}: {ran.stderr}")
    said: dict[str, Any] = json.loads(ran.stdout)
    said["findings"] = [one for one in said["findings"] if not one["suppressed"]]
    return said


def counted(found: list[dict[str, Any]]) -> Counter[str]:
    return Counter(f"{one['code']} {one['path']}" for one in found)


def contents(folder: Path) -> dict[str, bytes]:
    files = [file for ending in ("py", "ipynb") for file in sorted(folder.rglob(f"*.{ending}"))]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files if file.is_file()}


def is_accepted(path: str, text: bytes) -> bool:
    try:
        if path.endswith(".ipynb"):
            json.loads(text)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "<file>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def tried(source: Path, scratch: Path, diffs: Path | None) -> dict[str, Result]:
    """What each way of fixing comes to."""
    cache = scratch / "caches" / source.name
    results = {}
    before: list[dict[str, Any]] | None = None
    for mode, options in MODES.items():
        folder = scratch / mode / source.name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder, symlinks=True, ignore=SKIPPED)
        if before is None:
            before = report(folder, cache)["findings"]
        texts = contents(folder)
        first = report(folder, cache, *options)
        after_texts = contents(folder)
        second = report(folder, cache, *options)  # where this changes nothing, it tells what is there now
        again_texts = contents(folder)
        after = second["findings"]
        had, has = (
            counted([one for one in found if one["fix"] and one["fix"]["applicability"] in (mode, "safe")])
            for found in (before, after)
        )
        rules: Counter[str] = Counter()
        for key, count in (had - has).items():
            rules[key.partition(" ")[0]] += count
        results[mode] = Result(
            rules,
            sum(text != texts[path] for path, text in after_texts.items()),
            first["summary"]["fixed"],
            had & has,
            counted(after) - counted(before),
            [
                path
                for path, text in after_texts.items()
                if is_accepted(path, texts[path]) and not is_accepted(path, text)
            ],
            [path for path, text in again_texts.items() if text != after_texts[path]],
            [
                f"{one['path']} {one['message']}"
                for one in first["errors"]
                if "is left as it was" in one["message"] or "bug" in one["message"]
            ],
        )
        print(source.name, mode, results[mode], file=sys.stderr, flush=True)
        if diffs is not None:
            diffs.mkdir(parents=True, exist_ok=True)
            with (diffs / f"{source.name}.{mode}.diff").open("w") as file:
                command = ["git", "diff", "--no-index", "--no-color", str(source), str(folder)]
                subprocess.run(command, stdout=file, check=False)
    return results


def rows(results: dict[str, dict[str, Result]]) -> list[str]:
    """A table of repositories."""
    lines = [
        "| repository | fixed safely | in files | fixed in all | in files | still fixable | new findings | broken | changed again |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    total: Counter[int] = Counter()
    for name, modes in sorted(results.items(), key=lambda one: one[0].lower()):
        safe, both = modes["safe"], modes["unsafe"]
        numbers = [
            safe.fixed,
            safe.files,
            both.fixed,
            both.files,
            *(
                sum(sum(one.values()) if isinstance(one, dict) else len(one) for one in kinds)
                for kinds in (
                    (safe.left, both.left),
                    (safe.new, both.new),
                    (safe.broken, both.broken),
                    (safe.again, both.again),
                )
            ),
        ]
        total.update(dict(enumerate(numbers)))
        lines.append(f"| {name.replace('+', '/', 1)} | {' | '.join(f'{number:,}' for number in numbers)} |")
    sums = " | ".join(f"**{total[number]:,}**" for number in range(8))
    return [*lines, f"| **{len(results)} repositories** | {sums} |"]


def by_rule(results: dict[str, dict[str, Result]]) -> list[str]:
    """A table of rules."""
    counts: dict[str, Counter[str]] = {mode: Counter() for mode in MODES}
    for modes in results.values():
        for mode, result in modes.items():
            counts[mode].update(result.rules)
    lines = ["| rule | fixed safely | fixed in all |", "|---|--:|--:|"]
    return lines + [
        f"| {code} | {counts['safe'][code]:,} | {counts['unsafe'][code]:,} |"
        for code in sorted({*counts["safe"], *counts["unsafe"]})
    ]


def failures(results: dict[str, dict[str, Result]]) -> list[str]:
    """Everything that should not be."""
    return [
        f"- {name.replace('+', '/', 1)}, {mode}: {what} {one}"
        for name, modes in sorted(results.items())
        for mode, result in modes.items()
        for what in ("left", "new", "broken", "again", "problems")
        for one in getattr(result, what)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/fixed"))
    parser.add_argument("--diffs", type=Path)
    given = parser.parse_args()
    kept = given.scratch / "results.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    results = {name: {mode: Result(**one) for mode, one in modes.items()} for name, modes in known.items()}
    sources = [one for one in sorted(given.folder.iterdir()) if one.is_dir()]
    sources = [one for one in sources if not given.names or one.name in given.names]
    for source in sources:
        if source.name not in results:
            results[source.name] = tried(source, given.scratch, given.diffs)
            done = {name: {mode: vars(one) for mode, one in modes.items()} for name, modes in results.items()}
            kept.write_text(json.dumps(done))
    print("\n".join([*rows(results), "", *by_rule(results), "", *failures(results)]))


if __name__ == "__main__":
    main()
