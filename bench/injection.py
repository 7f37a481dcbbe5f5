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
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import libcst as cst
import trees
from injections import OPERATORS

from trainlint.program.incremental.groups import check_program
from trainlint.project.bytes_on_disk import Contents
from trainlint.server.memory import Memory

_PAGE = Path(__file__).resolve().parent.parent / "docs" / "injection.md"
_BEGIN, _END = "<!-- injection: begin -->\n", "<!-- injection: end -->\n"


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


def mutants(files: list[Path], most: int) -> Iterator[Mutant]:
    """Up to so many of each operator, those of the first files first."""
    counts: Counter[str] = Counter()
    for file in files:
        raw = file.read_bytes()
        if b"torch" not in raw:
            continue
        try:
            module = cst.parse_module(raw)
        except (cst.ParserSyntaxError, UnicodeDecodeError):
            continue
        for name, operator in OPERATORS.items():
            if counts[name] >= most:
                continue
            for old, new in operator.edits(module):
                changed = new if old is module else module.deep_replace(old, new)
                assert isinstance(changed, cst.Module)
                if counts[name] < most and changed.code != module.code:
                    counts[name] += 1
                    yield Mutant(name, str(file), module.code, changed.code)


_MODES = re.compile(
    rb"dropout|batch_?norm|torchvision.{1,9}models|timm|transformers|from_pretrained", re.IGNORECASE
)
"""What stands in a repository that has a layer which depends on the mode: in others, dropping `eval()` is no bug."""


class Repository:
    """The files of one repository, of which at most one is changed at a time."""

    def __init__(self, folder: Path) -> None:
        self.files = trees.python_files(folder)
        self._has_modes = any(_MODES.search(one.read_bytes()) for one in self.files)
        self._memory = Memory()
        self._before: Counter[str] | None = None

    def is_harmed(self, mutant: Mutant) -> bool:
        return self._has_modes or mutant.operator not in ("train() dropped", "eval() dropped")

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
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--kept", type=Path, default=Path("injection.json"))
    parser.add_argument("--most", type=int, default=2)
    parser.add_argument("--operator", action="append", default=[])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    kept: dict[str, bool] = json.loads(given.kept.read_text()) if given.kept.exists() else {}
    tried: dict[str, bool] = {}
    for folder in given.folders:
        repository = Repository(folder)
        for one in mutants(repository.files, given.most):
            if given.operator and not any(name in one.operator for name in given.operator):
                continue
            if not repository.is_harmed(one):
                continue
            if one.key not in kept or (given.again and not kept[one.key]):
                kept[one.key] = repository.finds(one)
                given.kept.write_text(json.dumps(kept, indent=1))
            tried[one.key] = kept[one.key]
    if given.missed:
        print("\n\n".join(key for key, found in tried.items() if not found))
    print(table(tried))
    if given.write:
        before, _, rest = _PAGE.read_text(encoding="utf-8").partition(_BEGIN)
        text = f"{before}{_BEGIN}{table(tried)}\n{_END}{rest.partition(_END)[2]}"
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
