"""Fix copies of real repositories, and print what that came to.

    python bench/fixing.py FOLDER [--scratch FOLDER] [--unsafe-fixes] [--diffs FILE] [NAME...]

Each folder in FOLDER is copied to the scratch folder and fixed there. What is printed for each: findings that had a
fix; how many of those are gone; findings of any rule that were not there before; files that compiled before and do
not after; and files that a second run changes. All of the last three should be 0. `--diffs` keeps what was changed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent.parent
Key = tuple[str, str]
"""A file and a rule's code: lines move, these do not."""


class Result(NamedTuple):
    fixable: Counter[Key]
    gone: Counter[Key]
    new: Counter[Key]
    broken: list[str]
    changed_again: list[str]
    files: int


def trainlint(folder: Path, *arguments: str) -> str:
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "trainlint",
            "check",
            ".",
            "--select=ALL",
            f"--cache-dir={folder}.cache",
            *arguments,
        ],
        cwd=folder,
        env={"PYTHONPATH": str(HERE), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode not in (0, 1, 2) or "which is a bug" in ran.stderr:
        print(ran.stderr, file=sys.stderr)
    return ran.stdout


def findings(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(trainlint(folder, "--output-format=json", "--quiet"))["findings"]
    return [one for one in found if not one["suppressed"]]


def counted(found: list[dict[str, Any]]) -> Counter[Key]:
    return Counter((one["path"], one["code"]) for one in found)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*.py"))
        if file.is_file()
    }


def compiles(text: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<file>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def tried(source: Path, scratch: Path, options: list[str]) -> Result:
    folder = scratch / source.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(f"{folder}.cache", ignore_errors=True)
    shutil.copytree(source, folder, symlinks=True, ignore=shutil.ignore_patterns(".git", ".trainlint_cache"))
    texts, before = contents(folder), findings(folder)
    wanted = [one for one in before if one["fix"] and (options or one["fix"]["applicability"] == "safe")]
    trainlint(folder, "--fix", *options, "--quiet", "--output-format=concise")
    fixed, after = contents(folder), findings(folder)
    left = [one for one in after if one["fix"] and (options or one["fix"]["applicability"] == "safe")]
    trainlint(folder, "--fix", *options, "--quiet", "--output-format=concise")
    again = contents(folder)
    return Result(
        counted(wanted),
        counted(wanted) - counted(left),
        counted(after) - counted(before),
        [path for path, text in fixed.items() if compiles(texts[path]) and not compiles(text)],
        [path for path, text in again.items() if text != fixed[path]],
        sum(text != texts[path] for path, text in fixed.items()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/fixed"))
    parser.add_argument("--unsafe-fixes", action="store_true")
    parser.add_argument("--diffs", type=Path)
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    options = ["--unsafe-fixes"] if given.unsafe_fixes else []
    sources = [one for one in sorted(given.folder.iterdir()) if one.is_dir()]
    sources = [one for one in sources if not given.names or one.name in given.names]
    rules: Counter[str] = Counter()
    total: Counter[str] = Counter()
    print(f"{'':60} fixable  gone  new  broken  again  files")
    for source in sources:
        result = tried(source, given.scratch, options)
        for (_, code), count in result.gone.items():
            rules[code] += count
        row = {
            "fixable": result.fixable.total(),
            "gone": result.gone.total(),
            "new": result.new.total(),
            "broken": len(result.broken),
            "again": len(result.changed_again),
            "files": result.files,
        }
        total.update(row)
        print(f"{source.name:60} {'  '.join(f'{value:5}' for value in row.values())}", flush=True)
        for what in (*result.new, *result.broken, *result.changed_again):
            print(f"    {what}", flush=True)
    print(f"{'all':60} {'  '.join(f'{total[key]:5}' for key in total)}")
    print(", ".join(f"{code} {count}" for code, count in sorted(rules.items())))
    if given.diffs is not None:
        with given.diffs.open("w") as file:
            for source in sources:
                subprocess.run(
                    [
                        "git",
                        "diff",
                        "--no-index",
                        "--no-color",
                        str(source),
                        str(given.scratch / source.name),
                    ],
                    stdout=file,
                    check=False,
                )


if __name__ == "__main__":
    main()
