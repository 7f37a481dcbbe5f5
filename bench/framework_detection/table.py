"""What was found, as a table of Markdown: by bug, and the programs. `first_sight.json` has what a check found at first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from operators import OPERATORS
from programs import PROGRAMS

Kept = dict[str, Any]


def table(kept: Kept) -> str:
    trials = [(program, name) for program in PROGRAMS for name in program.bugs]
    first = json.loads((Path(__file__).parent / "first_sight.json").read_text(encoding="utf-8"))
    found = {(one.name, name): kept.get(f"{one.name}: {name}", {}) for one, name in trials}
    lines = [
        _sentence(list(found.values())),
        "",
        "| bug | bugs | on first sight | by source | by a run of what the source misses | by either |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for title in dict.fromkeys(OPERATORS[name].title for _, name in trials):
        of_it = [said for (_, name), said in found.items() if OPERATORS[name].title == title]
        source, run, either = (len([one for one in of_it if _is(one, *how)]) for how in _HOWS)
        at_first = [
            one
            for one in trials
            if OPERATORS[one[1]].title == title and first.get(f"{one[0].name}: {one[1]}")
        ]
        lines.append(f"| {title} | {len(of_it)} | {len(at_first)} | {source} | {run} | {either} |")
    lines += [
        "",
        "| program | from | bugs | by source | by either | the unchanged program, in source | and in a run |",
        "|---|---|---:|---:|---:|---|---|",
    ]
    for one in PROGRAMS:
        of_it = [said for (program, _), said in found.items() if program == one.name]
        source, either = (len([said for said in of_it if _is(said, *how)]) for how in (_HOWS[0], _HOWS[2]))
        clean = kept.get(one.name, {})
        ran = _codes(clean["run"]) if "run" in clean else "not run"
        lines.append(
            f"| {one.name} | `{one.source.replace('+', '/')}`, `{one.file}` | {len(of_it)} | {source} | {either} | "
            f"{_codes(clean.get('source', []))} | {ran} |"
        )
    return "\n".join(lines) + "\n"


_HOWS = (("source",), ("run",), ("source", "run"))


def _is(said: Kept, *how: str) -> bool:
    return any(said.get(one) for one in how)


def _sentence(found: list[Kept]) -> str:
    count = len(found)
    source, run, either = (sum(_is(one, *how) for one in found) for how in _HOWS)
    tried = sum("run" in one for one in found)
    return (
        f"**{source} of {count}** injected bugs ({source / count:.0%}) were found in source. Of the other {count - source}, {tried} {'was' if tried == 1 else 'were'} run here, "
        f"and {run} of them found there: **{either} of {count}** ({either / count:.0%}) by either."
    )


def _codes(found: list[Any]) -> str:
    return ", ".join(f"{code} ({level})" for code, level in found)
