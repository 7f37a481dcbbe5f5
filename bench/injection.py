"""Put known bugs into training programs, one at a time, and count which are found.

    python bench/injection.py FOLDER... [--kept results.json] [--most 2] [--operator NAME] [--missed] [--write]

Each folder is one repository. Of each operator (bench/injections.py), as many mutants as `--most` says are tried in
each. A mutant is found where a rule that is to find it has more findings than before. Results are kept by the mutant's
text, so a second call tries only what is new; `--again` tries what was missed once more, `--missed` lists it as
diffs. `--write` puts the table into docs/injection.md.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import libcst as cst
import trees
from injections import OPERATORS, harmful

from trainlint.program.incremental.groups import check_program
from trainlint.project.bytes_on_disk import Contents
from trainlint.server.memory import Memory

_PAGE = Path(__file__).resolve().parent.parent / "docs" / "injection.md"


class Mutant(NamedTuple):
    operator: str
    path: str
    before: str
    after: str

    @property
    def diff(self) -> str:
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), self.path, lineterm="", n=0
        )
        return "\n".join([*lines][2:])

    @property
    def key(self) -> str:
        return f"{self.operator}: {self.path}\n{self.diff}"


def mutants(files: list[Path], names: Iterable[str], most: int) -> Iterator[Mutant]:
    """Up to so many of each operator, those of the first files first. What a test trains, it trains for the test."""
    counts: Counter[str] = Counter()
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    for file in files:
        raw = file.read_bytes()
        if b"torch" not in raw or file.name.startswith("test_"):
            continue
        left = [name for name in names if counts[name] < most]
        left = [name for name in left if re.search(OPERATORS[name].word.encode(), raw)]
        try:
            module = cst.parse_module(raw) if left else cst.Module([])
        except (cst.ParserSyntaxError, UnicodeDecodeError):
            continue
        before = module.code
        for name in left:
            for old, new in OPERATORS[name].edits(module):
                if not OPERATORS[name].harms((old, new), before, texts):
                    continue
                changed = new if old is module else module.deep_replace(old, new)
                assert isinstance(changed, cst.Module)
                after = changed.code
                if after != before:
                    counts[name] += 1
                    yield Mutant(name, str(file), before, after)
                if counts[name] >= most:
                    break


class Repository:
    """The files of one repository, of which at most one is changed at a time."""

    def __init__(self, folder: Path) -> None:
        self.files = trees.python_files(folder)
        self.harmful = harmful(one.read_bytes() for one in self.files)
        self._memory = Memory()
        self._before: Counter[str] | None = None

    def finds(self, mutant: Mutant) -> bool:
        if self._before is None:
            self._before = self._found({})
        after = self._found({mutant.path: mutant.after.encode()})
        return any(after[code] > self._before[code] for code in OPERATORS[mutant.operator].codes)

    def _found(self, changed: dict[str, bytes]) -> Counter[str]:
        checked = check_program(sorted(map(str, self.files)), Contents(changed), self._memory, 1, None)
        return Counter(one.code for one in checked.findings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--kept", type=Path, default=Path("injection.json"))
    parser.add_argument("--most", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--operator", action="append", default=[])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--write", choices=("first sight", "mended"))
    given = parser.parse_args()
    kept: dict[str, bool] = json.loads(given.kept.read_text()) if given.kept.exists() else {}
    tried: dict[str, bool] = {} if given.folders else kept
    end = time.monotonic() + given.minutes * 60
    for folder in given.folders:
        repository = Repository(folder)
        names = [
            name
            for name in OPERATORS
            if name in repository.harmful
            and (not given.operator or any(each in name for each in given.operator))
        ]
        for one in mutants(repository.files, names, given.most):
            is_known = one.key in kept and not (given.again and not kept[one.key])
            if not is_known and time.monotonic() < end:
                kept[one.key] = repository.finds(one)
                given.kept.write_text(json.dumps(kept, indent=1))
            if one.key in kept:
                tried[one.key] = kept[one.key]
    if given.missed:
        print("\n\n".join(key for key, found in tried.items() if not found))
    print(table(tried))
    if given.write:
        begin, finish = (f"<!-- {given.write}: {word} -->\n" for word in ("begin", "end"))
        before, _, rest = _PAGE.read_text(encoding="utf-8").partition(begin)
        text = f"{before}{begin}{table(tried)}\n{finish}{rest.partition(finish)[2]}"
        _PAGE.write_text(text, encoding="utf-8")


def table(tried: dict[str, bool]) -> str:
    """Found of tried, by operator, in Markdown."""
    counts: dict[str, list[bool]] = {name: [] for name in OPERATORS}
    for key, found in tried.items():
        counts[key.partition(": ")[0]].append(found)
    counts = {name: each for name, each in counts.items() if each} | {"all": list(tried.values())}
    rows = [
        f"| {name} | {len(each)} | {sum(each)} | {sum(each) / max(1, len(each)):.0%} |"
        for name, each in counts.items()
    ]
    return "\n".join(["| bug | tried | found | share |", "|---|---:|---:|---:|", *rows])


if __name__ == "__main__":
    main()
