"""A finding that its author explains in a comment beside it is information."""

from __future__ import annotations

import pytest

from trainlint.check.explained import explained
from trainlint.check.ignore import silence
from trainlint.finding import Finding, Place

LOAD = "a = torch.load(path, weights_only=False)"


def level(text: str, line: int, code: str = "TL913", of: str | None = None) -> str | None:
    finding = Finding(Place("a.py", line, 1, line, 2), "", code=code, level=of or "warning")  # type: ignore[arg-type]
    return explained([finding], text.encode())[0].level


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (f"{LOAD}  # we trust it\n", 1, "info"),
        (f"{LOAD}  # the best one\n", 1, "warning"),
        (f"# Our own checkpoints,\n# of all runs.\n{LOAD}\n", 3, "info"),
        (f"# Our own checkpoints.\n\n{LOAD}\n", 3, "warning"),
        (f"{LOAD}\n# we trust it\n", 1, "warning"),
        (f"b = 1  # we trust it\n{LOAD}\n", 2, "warning"),
        ("with f() as x:\n    # weights_only=True refuses it\n    a = torch.load(x)\n", 3, "info"),
        ("# trusted\na = g(\n    torch.load(x),\n)\n", 3, "info"),
        ("a = g(\n    torch.load(x),  # trusted\n    1,\n)\n", 2, "info"),
        (f"{LOAD}  # we trust it\n(\n", 1, "info"),
        ('a = "# we trust it", torch.load(path)\n', 1, "warning"),
    ],
)
def test_where_the_comment_stands(text: str, line: int, expected: str) -> None:
    assert level(text, line) == expected


@pytest.mark.parametrize(
    ("code", "comment", "expected"),
    [
        ("TL502", "the series, in order", "info"),
        ("TL502", "we trust it", "warning"),
        ("TL908", "kept for old checkpoints", "info"),
        ("TL908", "Placeholder until the graph is read", "info"),
        ("TL908", "TODO: read the graph", "info"),
        ("TL908", "the head", "warning"),
        ("TL301", "in order, kept, trusted", "error"),
    ],
)
def test_each_rule_knows_its_own_words(code: str, comment: str, expected: str) -> None:
    assert level(f"a = f()  # {comment}\n", 1, code, "error" if code == "TL301" else None) == expected


def test_finding_names_the_comment() -> None:
    finding = Finding(Place("a.py", 1, 5, 1, 41), "", code="TL913", level="warning")
    (found,) = silence([finding], (), lambda path: f"{LOAD}  # ours: trusted\n".encode(), {})
    assert [(one.at, one.message) for one in found.because] == [
        (Place("a.py", 1, 43, 1, 58), "this comment explains it")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self.aux = f()\n# x = self.aux(x)\n", "info"),
        ("self.aux = f()\nif x:\n    #x = model.aux.weight\n    pass\n", "info"),
        ("self.aux = f()\nx = self.head(x)  # not self.aux(x)\n", "warning"),
        ("self.aux = f()\n# x = self.auxiliary(x)\n", "warning"),
        ("self.aux = f()\n# x = aux(x)\n", "warning"),
        ("self.aux = f()\n# self.aux = g()\n", "warning"),
        ("self.aux = f()\n# if self.aux == 1:\n", "info"),
    ],
)
def test_use_that_is_commented_out(text: str, expected: str) -> None:
    finding = Finding(Place("a.py", 1, 1, 1, 2), "", code="TL908", level="warning", subject="aux")
    assert explained([finding], text.encode())[0].level == expected


def test_finding_names_what_is_commented_out() -> None:
    finding = Finding(Place("a.py", 1, 1, 1, 2), "", code="TL908", level="warning", subject="aux")
    (found,) = explained([finding], b"self.aux = f()\n    # x = self.aux(x)\n")
    assert [(one.at, one.message) for one in found.because] == [
        (Place("a.py", 2, 11, 2, 19), "its use is commented out")
    ]
