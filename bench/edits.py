"""Edits of a tree, one after the other: whether a check that knows the tree finds what a new one finds, and its cost.

    python bench/edits.py TREE --edits 30 --seed 1 --jobs 1

The tree is copied. An edit adds, changes or takes out lines of a function, of a class or of a file, at random. Ends
with 1 and the edit where findings differ.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import trees
from measured import run, trainlint

_WORDS = b"torch", b"nn."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        tree, cache = Path(folder, "tree"), Path(folder, "cache")
        files = [
            file for file in trees.copy(given.tree, tree) if any(map(file.read_bytes().__contains__, _WORDS))
        ]
        check = [
            *trainlint("check", "--output-format", "json", "--jobs", str(given.jobs), str(tree)),
        ]
        cached = [*check, "--cache-dir", str(cache)]
        _found(cached)
        costs: dict[str, list[float]] = {}
        for number in range(given.edits):
            file, kind = chance.choice(files), chance.choice(list(_EDITS))
            text = file.read_text()
            after = _EDITS[kind](text, chance)
            if after is None or after == text:
                continue
            file.write_text(after)
            costs.setdefault(kind, []).append(run(cached).cpu)
            if _found(cached) != _found([*check, "--no-cache"]):
                sys.exit(
                    f"edit {number}, {kind} in {file.relative_to(tree)}: other findings than a new check's"
                )
    for kind, several in sorted(costs.items()):
        print(
            f"{kind}: {len(several)} times, median {statistics.median(several):.2f} CPU s, worst {max(several):.2f}"
        )


def _found(command: list[str]) -> object:
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return report["findings"], report["errors"]


def _functions(text: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]


def _with_line(text: str, number: int, line: str) -> str:
    lines = text.split("\n")
    return "\n".join([*lines[: number - 1], line, *lines[number - 1 :]])


def _first(text: str, chance: random.Random) -> tuple[int, str] | None:
    """A line on which the last statement of a function begins, and its indentation."""
    functions = _functions(text)
    if not functions:
        return None
    last = chance.choice(functions).body[-1]
    line = text.split("\n")[last.lineno - 1]
    if line[: last.col_offset].strip():
        return None
    return last.lineno, line[: last.col_offset]


def _statement(text: str, chance: random.Random) -> str | None:
    place = _first(text, chance)
    return _with_line(text, place[0], f"{place[1]}print()") if place else None


def _attribute(text: str, chance: random.Random) -> str | None:
    place = _first(text, chance)
    return _with_line(text, place[0], f"{place[1]}print.new_attribute.requires_gradd = 1") if place else None


def _softmax(text: str, chance: random.Random) -> str | None:
    """Whatever a function returns goes through a softmax."""
    returns = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Return)
        and isinstance(node.value, ast.Name)
        and node.lineno == node.end_lineno
    ]
    if not returns:
        return None
    node = chance.choice(returns)
    lines = text.split("\n")
    line = lines[node.lineno - 1]
    lines[node.lineno - 1] = f"{line[: node.end_col_offset]}.softmax(dim=-1){line[node.end_col_offset :]}"
    return "\n".join(lines)


def _taken_out(text: str, chance: random.Random) -> str | None:
    """A statement of a function becomes `pass`."""
    functions = _functions(text)
    if not functions:
        return None
    node = chance.choice(chance.choice(functions).body)
    lines = text.split("\n")
    indentation = lines[node.lineno - 1][: node.col_offset]
    if indentation.strip() or node.end_lineno is None:
        return None
    return "\n".join([*lines[: node.lineno - 1], f"{indentation}pass", *lines[node.end_lineno :]])


def _comment_above(text: str, chance: random.Random) -> str | None:
    functions = _functions(text)
    return _with_line(text, chance.choice(functions).lineno, "# above") if functions else None


def _comment_at_end(text: str, _: random.Random) -> str:
    return text + "\n# changed\n"


def _new_function(text: str, _: random.Random) -> str:
    return text + "\n\ndef added(model, x, y):\n    model(x).softmax(1).backward()\n"


def _new_constant(text: str, _: random.Random) -> str:
    return text + "\nADDED = 1\n"


_EDITS: dict[str, Callable[[str, random.Random], str | None]] = {
    "a statement more": _statement,
    "an attribute that is new": _attribute,
    "a softmax": _softmax,
    "a statement less": _taken_out,
    "a comment above a function": _comment_above,
    "a comment at the end": _comment_at_end,
    "a function more": _new_function,
    "a constant more": _new_constant,
}


if __name__ == "__main__":
    main()
