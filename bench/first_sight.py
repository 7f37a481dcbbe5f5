"""What readers said of findings in repositories that nothing had been changed for: precision at first sight.

    python bench/first_sight.py            prints the tables
    python bench/first_sight.py --write    puts them into docs/precision.md

Each file of docs/first_sight is one round: repositories with their commits and lines, and findings as a reader judged
them before anything was changed for them. A doubtful finding counts as wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

HERE = Path(__file__).parent.parent
PAGE = HERE / "docs/precision.md"
BEGIN, END = "<!-- first sight -->\n", "<!-- end of first sight -->\n"
_CAUSES, _LENGTH = 12, 110
"""How many causes are shown, and how many characters of each."""
LEVELS = ("error", "warning", "info")


class Judged(NamedTuple):
    repository: str
    path: str
    line: int
    code: str
    level: str
    judgement: str
    cause: str
    confidence: str = ""


def table(title: str, document: dict[str, Any]) -> str:
    found = [Judged(*one) for one in document["findings"]]
    repositories = document["repositories"]
    lines = sum(one["lines"] for one in repositories.values())
    notebooks = sum(one["notebooks"] for one in repositories.values())
    errors = sum(one.level == "error" and one.judgement == "right" for one in found)
    return "\n".join(
        [
            f"### {title}",
            "",
            f"{len(repositories)} repositories, {lines:,} lines of Python and {notebooks} notebooks; {len(found)} findings "
            f"of {len({one.repository for one in found})} repositories were read. Right findings at level error: "
            f"{errors / lines * 10_000:.1f} in 10,000 lines.",
            "",
            "| level | read | right | doubtful | wrong | share right |",
            "|---|---:|---:|---:|---:|---:|",
            *(_row(level, [one for one in found if one.level == level]) for level in LEVELS),
            _row("all", found),
            *(
                _row(f"{level}, {sure}", same)
                for level in LEVELS
                for sure in ("certain", "likely")
                if (same := [one for one in found if (one.level, one.confidence) == (level, sure)])
            ),
            "",
            "Rules with a finding that is not right: " + _rules(found) + ".",
            "",
            "The most frequent causes: " + _causes(found) + ". All of them are in `docs/first_sight`.",
            "",
            *_read_before(document.get("bugs", [])),
        ]
    )


def _read_before(bugs: list[list[Any]]) -> list[str]:
    """Bugs of the catalogue that the readers wrote down before they saw any finding, and which of them are reported."""
    counts = Counter(one[-1] for one in bugs)
    said = (
        f"Bugs with a rule that the readers wrote down before they saw any finding: {len(bugs)}. At first sight "
        f"{counts['line']} of them are reported within 12 lines, and of {counts['file']} more the same rule reports "
        "something else in their file."
    )
    return [said, ""] if bugs else []


def _row(title: str, found: list[Judged]) -> str:
    counts = Counter(one.judgement for one in found)
    share = f"{counts['right'] / len(found):.1%}" if found else "-"
    numbers = (len(found), counts["right"], counts["doubtful"], counts["wrong"])
    return f"| {title} | {' | '.join(map(str, numbers))} | {share} |"


def _rules(found: list[Judged]) -> str:
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        by_rule[one.code][one.judgement] += 1
    bad = {code: counts for code, counts in sorted(by_rule.items()) if counts["right"] < counts.total()}
    return ", ".join(f"{code} ({counts['right']} of {counts.total()} right)" for code, counts in bad.items())


def _causes(found: list[Judged]) -> str:
    counts = Counter(one.cause for one in found if one.judgement != "right")
    frequent = ((cause, count) for cause, count in counts.most_common(_CAUSES) if count > 1)
    return "; ".join(f"{shorten(cause, _LENGTH, placeholder=' ...')} ({count})" for cause, count in frequent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true")
    rounds = sorted(
        (HERE / "docs/first_sight").glob("*.json"), key=lambda one: int(one.stem.rpartition("_")[2])
    )
    text = "\n".join(
        table(one.stem.replace("_", " ").capitalize(), json.loads(one.read_text())) for one in rounds
    )
    print(text)
    if parser.parse_args().write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{text}{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
