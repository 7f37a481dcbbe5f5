"""What is found of a program of which half is missing: thirty bugs and their twins, in nine forms.

python bench/open_world              prints the table of docs/open-world.md
python bench/open_world --write      puts it into the page
python bench/open_world --missed     lists the cells that are missed, and every finding on a twin
python bench/open_world --show NAME FORM
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from forms import FORMS, Written
from pairs import PAIRS, Pair

from trainlint.check.analysis import Source, analyse
from trainlint.finding import Finding

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "open-world.md"


class Cell(NamedTuple):
    """One pair in one form: whether the bug is found, and what is said of the twin."""

    pair: Pair
    form: str
    found: bool
    on_twin: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--show", nargs=2, metavar=("NAME", "FORM"))
    given = parser.parse_args()
    if given.show:
        pair = next(one for one in PAIRS if one.name == given.show[0])
        print(FORMS[given.show[1]](pair.bug).text)
        return
    cells = list(_cells())
    if given.missed:
        for cell in cells:
            if not cell.found or cell.on_twin:
                print(
                    f"{cell.form}: {cell.pair.name} {'' if cell.found else 'missed'} {' '.join(cell.on_twin)}"
                )
    text = "\n".join(_table(cells))
    print(text)
    if given.write:
        before, _, rest = _PAGE.read_text(encoding="utf-8").partition("<!-- table -->\n")
        after = rest.partition("<!-- end -->")[2]
        _PAGE.write_text(f"{before}<!-- table -->\n{text}\n<!-- end -->{after}", encoding="utf-8")


def _cells() -> Iterator[Cell]:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for pair in PAIRS:
            for form, write in FORMS.items():
                bug = write(pair.bug)
                line = bug.first + pair.line
                found = any(one.code == pair.code and _covers(one, line) for one in _checked(bug))
                twin = tuple(f"{one.code}:{one.at.line}" for one in _checked(write(pair.twin)))
                yield Cell(pair, form, found, twin)


def _covers(finding: Finding, line: int) -> bool:
    places = [finding.at, *(one.at for one in finding.because)]
    return any(place.line <= line <= place.end_line for place in places)


def _checked(program: Written) -> list[Finding]:
    Path("train.py").write_text(program.text, encoding="utf-8")
    return [one for one in analyse([Source("train.py")], jobs=1).findings if one.level != "info"]


def _table(cells: list[Cell]) -> Iterator[str]:
    forms = list(FORMS)
    yield f"| bug | rule | {' | '.join(forms)} |"
    yield f"|---|---|{':-:|' * len(forms)}"
    for pair in PAIRS:
        own = {cell.form: cell for cell in cells if cell.pair is pair}
        yield f"| {pair.name} | {pair.code} | {' | '.join(_mark(own[form]) for form in forms)} |"
    counts = [sum(cell.found for cell in cells if cell.form == form) for form in forms]
    yield f"| **found** | | {' | '.join(f'{count} of {len(PAIRS)}' for count in counts)} |"
    wrong = sum(bool(cell.on_twin) for cell in cells)
    share = 100 * sum(cell.found for cell in cells) / len(cells)
    yield ""
    yield f"**{share:.0f} % of the cells are found; {wrong} of {len(cells)} twins have a finding.**"


def _mark(cell: Cell) -> str:
    return ("x" if cell.found else "") + ("!" if cell.on_twin else "")


if __name__ == "__main__":
    main()
