"""Questions of values are asked with memory: no function of rules or facts calls itself on the parts of a value.

A value that is used twice in what it is made of, as in `x = x * x`, would be gone through 2^n times. `question` remembers
answers, and `reached` goes to each value once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent.parent
_PLACES = sorted(
    one
    for folder in ("rules", "trainlint/facts/ask")
    for one in (_ROOT / folder).rglob("*.py")
    if one.name not in ("good.py", "bad.py")
)


def _calls(function: ast.FunctionDef, known: Mapping[str, ast.FunctionDef]) -> set[str]:
    return {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and one.id in known}


def _with_memory(function: ast.FunctionDef) -> bool:
    return any("question" in ast.unparse(one) for one in function.decorator_list)


def _takes_value(function: ast.FunctionDef) -> bool:
    given = [ast.unparse(one.annotation) for one in function.args.args if one.annotation is not None]
    return any(word in one for one in given for word in ("Value", "Op"))


def _recursive(text: str) -> Iterator[str]:
    """Functions of values that come back to themselves without passing a question."""
    functions = {one.name: one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef)}
    known = {name: one for name, one in functions.items() if not _with_memory(one)}
    calls = {name: _calls(one, known) for name, one in known.items()}
    for name, function in known.items():
        met, pending = set[str](), list(calls[name])
        while pending:
            one = pending.pop()
            if one not in met:
                met.add(one)
                pending += calls[one]
        if name in met and _takes_value(function):
            yield name


@pytest.mark.quick
@pytest.mark.parametrize("path", _PLACES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_values_are_asked_with_memory(path: Path) -> None:
    assert list(_recursive(path.read_text())) == []


@pytest.mark.quick
def test_recursion_is_seen() -> None:
    plain = "def depth(one: Value) -> int:\n    return 1 + max(map(depth, one.parts()))\n"
    assert list(_recursive(plain)) == ["depth"]
    assert list(_recursive("@question(start=0, unknown=0)\n" + plain)) == []
