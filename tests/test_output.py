"""What people see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trainlint.output.printable import width
from trainlint.output.style import Piece, plain
from trainlint.output.wrapping import wrapped

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
    short = excerpt(project, trainlint, f"{head} + tl101() + b\n", COLUMNS="60")[1:]
    assert short[0] == f"1 | ...{'a' * 33} + tl101() + b"
    assert short[1].index("^") == short[0].index("tl101")
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


@pytest.fixture
def collection(project: Project) -> None:
    """22 files with 168 deprecations, and five errors among them."""
    files = {f"lesson_{n:02}.py": "tl209_warning()\n" * (8 if n < 14 else 7) for n in range(22)}
    for n in (2, 9, 15):
        files[f"lesson_{n:02}.py"] += "optimizer.step(tl301())\n"
    for n in (5, 20):
        files[f"lesson_{n:02}.py"] += "loss(tl101())\n"
    project(files)


def test_few_errors_among_many_warnings_are_on_the_last_screen(
    collection: None, trainlint: Trainlint
) -> None:
    lines = trainlint("check", env={"COLUMNS": "80"}).stdout.splitlines()
    screen = "\n".join(lines[-40:])
    assert screen.count("error[TL301]") == 3
    assert screen.count("error[TL101]") == 2
    assert "warning[" not in screen


def test_many_findings_end_in_a_table_and_a_word_about_most_of_them(
    collection: None, trainlint: Trainlint
) -> None:
    ending = trainlint("check", env={"COLUMNS": "110"}).stdout.partition("\n168  ")[2]
    assert ending == (
        "TL209  warning  deprecated-variable           in 22 files\n"
        "  3  TL301  error    missing-zero-grad             lesson_02.py:9, lesson_09.py:9, lesson_15.py:8\n"
        "  2  TL101  error    softmax-before-cross-entropy  lesson_05.py:9, lesson_20.py:8\n"
        "\n"
        "Most findings are TL209 deprecated-variable: `--ignore TL209` leaves 5 of 173.\n"
        "Found 5 errors and 168 warnings in 22 files.\n"
        "168 can be fixed with --fix --unsafe-fixes.\n"
    )
    assert "168  " not in trainlint("check", "--quiet").stdout


def test_of_findings_that_are_alike_three_are_shown(collection: None, trainlint: Trainlint) -> None:
    said = trainlint("check").stdout
    assert said.count("warning[TL209]") == 4
    assert "warning[TL209] deprecated-variable: 165 more in 22 files; --show-all\n\n" in said
    assert trainlint("check", "--show-all").stdout.count("warning[TL209]") == 168


def test_one_more_than_three_is_shown_too(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl209_warning()\n" * 4})
    said = trainlint("check").stdout
    assert (said.count("warning[TL209]"), "--show-all" in said) == (4, False)


def test_the_worst_stand_last(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\ntl301_warning()\n", "b.py": "tl101_warning()\ntl301()\n"})
    heads = [line[:14] for line in trainlint("check").stdout.splitlines() if "[TL" in line]
    assert heads == ["warning[TL301]", "warning[TL101]", "error[TL101] s", "error[TL301] m"]
    by_path = trainlint("check", "--sort", "path").stdout
    heads = [line[:14] for line in by_path.splitlines() if "[TL" in line]
    assert heads == ["error[TL101] s", "warning[TL301]", "warning[TL101]", "error[TL301] m"]
    concise = trainlint("check", "--output-format", "concise").stdout
    assert [line[:6] for line in concise.splitlines()] == ["a.py:1", "a.py:2", "b.py:1", "b.py:2"]


@pytest.mark.parametrize("columns", [40, 55, 80, 100, 160, 200])
def test_every_line_fits(collection: None, project: Project, trainlint: Trainlint, columns: int) -> None:
    source = "x = " + "a + " * 30 + "tl101(" + "b, " * 30 + "b)\n"
    why = "y = reason(" + "c, " * 20 + "c)\n"
    project(
        {"long.py": source + why, "wide.py": "'模型模型模型模型模型模型模型', tl101('" + "é" * 90 + "')\n"}
    )
    said = trainlint("check", env={"COLUMNS": str(columns)}).stdout
    assert [line for line in said.splitlines() if sum(map(width, line)) > columns] == []


def test_a_message_goes_on_below_its_beginning() -> None:
    pieces = [
        Piece("error[TL101]", "error"),
        Piece(" a-name: ", "strong"),
        Piece("one two three four\n  likely: five six"),
    ]
    assert plain(wrapped(pieces, 24)) == ("error[TL101] a-name: one\n    two three four\n  likely: five six")
    assert plain(wrapped(pieces, 16)) == (
        "error[TL101]\n    a-name: one\n    two three\n    four\n  likely: five\n      six"
    )
    assert plain(wrapped(pieces, None)) == plain(pieces)


def test_what_a_place_says_goes_on_beside_its_mark_or_below(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\nlong_name = reason()\n"})
    [beside] = [
        line for line in trainlint("check", env={"COLUMNS": "45"}).stdout.splitlines() if "-----" in line
    ]
    assert beside == "  |             -------- this is why"
    project({"a.py": "tl101()\n" + "long_name = reason(111)".replace("long", "long" * 4) + "\n"})
    lines = trainlint("check", env={"COLUMNS": "48"}).stdout.splitlines()
    mark = next(at for at, line in enumerate(lines) if "-----" in line)
    assert lines[mark : mark + 2] == [
        "  |                         -----------",
        "  |     this is why",
    ]
