"""What is found of a program after a rewrite that changes nothing of what it does.

python bench/metamorphic.py                 prints a table: of how many findings each rewrite loses some
python bench/metamorphic.py --kind walrus   only rewrites whose names hold this, and what each program loses or gains
python bench/metamorphic.py --show NAME KIND

Programs are the wrong and the right one of each rule and the scenarios of one file. A finding is lost when fewer lines of
a program have one of its rule than before, and new when more have.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import libcst as cst
from rewrites import REWRITES

from trainlint.check.analysis import Source, analyse

_ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class _Compared(NamedTuple):
    """A program, and the rules that it has lost and gained findings of."""

    name: str
    lost: Counter[str]
    new: Counter[str]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--show", nargs=2, metavar=("NAME", "KIND"))
    given = parser.parse_args()
    programs = dict(_programs())
    if given.show:
        print(_rewritten(programs[given.show[0]], next(one for one in REWRITES if given.show[1] in one)))
        return
    print("| rewrite | programs | findings | lost | new |\n|---|---|---|---|---|")
    before = _found(programs)
    for kind in REWRITES:
        if not given.kind or any(one in kind for one in given.kind):
            _compare(kind, programs, before, told=bool(given.kind))


def _compare(kind: str, programs: dict[str, str], before: dict[str, Counter[str]], *, told: bool) -> None:
    rewritten = {name: after for name, text in programs.items() if (after := _rewritten(text, kind))}
    after = _found(rewritten)
    compared = [_Compared(name, before[name] - after[name], after[name] - before[name]) for name in rewritten]
    findings = sum(before[name].total() for name in rewritten)
    lost, new = (
        sum(one.total() for one in part) for part in zip(*(one[1:] for one in compared), strict=True)
    )
    share = 100 * lost / max(findings, 1)
    print(f"| {kind} | {len(rewritten)} | {findings} | {lost} ({share:.1f} %) | {new} |", flush=True)
    for one in compared if told else ():
        if one.lost or one.new:
            signs = (("-", one.lost), ("+", one.new))
            print(
                f"{one.name}: "
                + " ".join(f"{sign}{code}" for sign, part in signs for code in part.elements())
            )


def _rewritten(text: str, kind: str) -> str | None:
    changed = REWRITES[kind](cst.parse_module(text))
    if changed is None:
        return None
    compile(changed.code, "rewritten", "exec", dont_inherit=True)
    return changed.code


def _found(programs: dict[str, str]) -> dict[str, Counter[str]]:
    """On how many lines of each program each rule finds something."""
    found: dict[str, Counter[str]] = {name: Counter() for name in programs}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names = {}
        for number, (name, text) in enumerate(programs.items()):
            path = Path(f"p{number}") / "train.py"
            path.parent.mkdir()
            path.write_text(text, encoding="utf-8")
            names[path.as_posix()] = name
        findings = [one for one in analyse([Source(path) for path in names]).findings if one.level != "info"]
        for path, code, _ in {(one.at.path, one.code, one.at.line) for one in findings}:
            found[names[path]][code] += 1
        os.chdir(_ROOT)
    return found


def _programs() -> Iterator[tuple[str, str]]:
    for path in sorted((_ROOT / "rules").glob("*/*.py")):
        if path.stem in ("bad", "good"):
            yield f"{path.parent.name[:5]} {path.stem}", path.read_text(encoding="utf-8")
    for page in sorted((_ROOT / "fixtures" / "scenarios").glob("*.md")):
        for section in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            (block,) = _BLOCK.findall(section)
            if "# file: " not in block:
                yield f"{page.stem}: {section.partition(chr(10))[0]}", block


if __name__ == "__main__":
    main()
