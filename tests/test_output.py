"""What people see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint


def excerpt(project: Project, trainlint: Trainlint, source: str, **env: str) -> list[str]:
    """The lines between a finding's place and the end of it."""
    project({"a.py": source})
    lines = trainlint("check", "a.py", "--quiet", env=env).stdout.splitlines()
    return lines[2:-1]


def test_text_shows_every_place(project: Project, trainlint: Trainlint) -> None:
    project({"net.py": "\n" * 8 + "def f(x):\n    return tl101(x)\n", "train.py": "loss = reason(y)\n"})
    assert trainlint("check").stdout == (
        "error[TL101] softmax-before-cross-entropy: this is wrong\n"
        "  --> net.py:10:12\n"
        "   |\n"
        "10 |     return tl101(x)\n"
        "   |            ^^^^^^^^\n"
        "  ::: train.py:1:8\n"
        "   |\n"
        " 1 | loss = reason(y)\n"
        "   |        --------- this is why\n"
        "\n"
        "Found 1 error in 2 files.\n"
    )


def test_concise(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n  \nx = tl301_warning()\n"})
    assert trainlint("check", "--output-format", "concise").stdout == (
        "a.py:1:1: error TL101 this is wrong\na.py:3:5: warning TL301 this is wrong\n"
    )


def test_statistics(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\ntl301()\n" + "tl301()\n" * 9 + "tl301()  # trainlint: ignore\n"})
    assert trainlint("check", "--statistics").stdout == (
        "10  TL301  error    missing-zero-grad\n"
        " 1  TL101  error    softmax-before-cross-entropy\n"
        "Found 11 errors in 1 file (1 suppressed).\n"
    )


def test_closing_line_names_every_level(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\ntl101_warning()\ntl101_warning()\ntl101_info()\n", "b.py": "("})
    assert trainlint("check", "--select", "ALL").stdout.splitlines()[-1] == (
        "Found 1 error, 2 warnings and 1 info in 2 files; 1 problem, see above."
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("if x:\n\tx = tl101(\ty)\n", ["2 |     x = tl101(    y)", "  |         ^^^^^^^^^^^^"]),
        ("'模型', tl101('é')\n", ["1 | '模型', tl101('é')", "  |         ^^^^^^^^^^"]),
        ("'e\u0301', tl101()\n", ["1 | 'e\u0301', tl101()", "  |      ^^^^^^^"]),
        ("tl101()\r\nx = 1\r\n", ["1 | tl101()", "  | ^^^^^^^"]),
        ("'\x1b[31m', tl101()\n", ["1 | '\\x1b[31m', tl101()", "  |             ^^^^^^^"]),
        ("'\u202e', tl101()\n", ["1 | '\\u202e', tl101()", "  |           ^^^^^^^"]),
        ("'\x0c\u2028'\ntl101()\n", ["2 | tl101()", "  | ^^^^^^^"]),
        ("\ufefftl101()\n", ["1 | tl101()", "  | ^^^^^^^"]),
        ("[bold] = tl101()\n", ["1 | [bold] = tl101()", "  |          ^^^^^^^"]),
    ],
)
def test_unusual_characters_keep_the_underline_in_place(
    project: Project, trainlint: Trainlint, source: str, shown: list[str]
) -> None:
    assert excerpt(project, trainlint, source)[1:] == shown


def test_a_place_over_a_few_lines_is_shown_whole(project: Project, trainlint: Trainlint) -> None:
    assert excerpt(project, trainlint, "x = tl101(\n    1,\n\n    2)\n")[1:] == [
        "1 | x = tl101(",
        "  |     ^^^^^^",
        "2 |     1,",
        "  |     ^^",
        "3 |",
        "4 |     2)",
        "  |     ^^",
    ]


def test_a_place_over_many_lines_shows_its_first(project: Project, trainlint: Trainlint) -> None:
    assert excerpt(project, trainlint, "x = tl101(\n" + "    1,\n" * 9 + ")\n")[1:] == [
        " 1 | x = tl101(",
        "   |     ^^^^^^... to line 11",
    ]


def test_long_lines_are_cropped_around_the_place(project: Project, trainlint: Trainlint) -> None:
    head, tail = "a" * 300, "b" * 300
    in_the_middle = excerpt(project, trainlint, f"{head} + tl101() + {tail}\n", COLUMNS="60")[1:]
    assert len(in_the_middle[0]) == len("1 | ") + 50
    assert in_the_middle[0].startswith("1 | ...a")
    assert in_the_middle[0].endswith("b...")
    start = in_the_middle[1].index("^")
    assert in_the_middle[0][start : start + 7] == "tl101()"
    assert in_the_middle[1].count("^") == 7
    assert excerpt(project, trainlint, f"tl101() + {tail}\n", COLUMNS="60")[1].startswith("1 | tl101() + bb")
    assert excerpt(project, trainlint, f"{head} + tl101()\n", COLUMNS="60")[1].endswith("a + tl101()")
    too_long = excerpt(project, trainlint, f"x = tl101({tail})\n", COLUMNS="60")[1:]
    assert too_long[0].startswith("1 | x = tl101(")
    assert too_long[1] == "  |     " + "^" * 43


def test_colour_is_for_terminals_and_those_who_force_it(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n", "b.py": "("})
    assert "\x1b" not in trainlint("check").stdout
    forced = trainlint("check", env={"FORCE_COLOR": "1"})
    assert "\x1b[31m\x1b[1merror[TL101]\x1b[0m" in forced.stdout
    assert "\x1b[31m\x1b[1merror:\x1b[0m" in forced.stderr
    assert "\x1b" not in trainlint("check", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b" not in trainlint("check", "--output-format", "json").stdout
