"""Bugs that the authors of public repositories mended: which of them a check finds before the fix.

    python bench/real_bugs.py            prints the table
    python bench/real_bugs.py --write    puts it into docs/real-bugs.md

`docs/real_bugs.json` holds one entry for each bug: the repository, the commit before the fix and the fix, path and line
before the fix, the kind, the rules that name it, whether one of them did so at first sight and after mending (which is
taken over from first sight where it was not checked again), and whether it was silent there after the fix.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent.parent / "docs"
DATA, PAGE = DOCS / "real_bugs.json", DOCS / "real-bugs.md"
BEGIN, END = "<!-- real bugs: begin -->\n", "<!-- real bugs: end -->\n"


class Bug(NamedTuple):
    """A bug and what was said of it; `silent` is None where nothing was said before the fix, or nobody looked."""

    repository: str
    before: str
    fix: str
    path: str
    line: int
    kind: str
    rules: tuple[str, ...]
    at_first: bool
    now: bool
    again: bool
    silent: bool | None


def bugs() -> list[Bug]:
    return [Bug(**{**one, "rules": tuple(one["rules"])}) for one in json.loads(DATA.read_text())]


def table(found: list[Bug]) -> str:
    kinds: dict[str, list[Bug]] = defaultdict(list)
    for bug in found:
        kinds[bug.kind].append(bug)
    ordered = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [_row(kind, same) for kind, same in (*ordered, ("**all**", found))]
    head = [
        "| kind | rules | bugs | repositories | at first sight | after mending |",
        "|---|---|---:|---:|---:|---:|",
    ]
    judged = [bug for bug in found if bug.silent is not None]
    silent = sum(bool(bug.silent) for bug in judged)
    said = f"After the fix, {silent} of the {len(judged)} that were found and looked at again are silent."
    left = sum(not bug.again for bug in found)
    if left:
        said += f" {left} bugs were not checked again after mending, and count as at first sight."
    return "\n".join([*head, *rows, "", said, ""])


def _row(kind: str, same: list[Bug]) -> str:
    rules = "" if kind.startswith("*") else ", ".join(sorted({code for bug in same for code in bug.rules}))
    places = len({bug.repository for bug in same})
    shares = (_share(sum(bug.at_first for bug in same), same), _share(sum(bug.now for bug in same), same))
    return f"| {kind} | {rules} | {len(same)} | {places} | {shares[0]} | {shares[1]} |"


def _share(number: int, of: list[Bug]) -> str:
    return f"{number} ({round(100 * number / len(of))}%)" if len(of) >= 10 else str(number)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs/real-bugs.md")
    text = table(bugs())
    if parser.parse_args().write:
        page = PAGE.read_text()
        before, after = page[: page.index(BEGIN) + len(BEGIN)], page[page.index(END) :]
        PAGE.write_text(before + text + after)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
