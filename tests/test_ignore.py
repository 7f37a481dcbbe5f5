"""Comments that silence findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint


def found(project: Project, trainlint: Trainlint, source: str, *options: str) -> list[str]:
    """What is found in a file with this source, as `line:CODE`; what is suppressed, in brackets."""
    project({"a.py": source})
    document = json.loads(trainlint("check", "a.py", "--output-format", "json", *options).stdout)
    shown = [(f"{one['line']}:{one['code']}", one["suppressed"]) for one in document["findings"]]
    return [f"({place})" if suppressed else place for place, suppressed in shown]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("tl101()  # trainlint: ignore\n", ["(1:TL101)"]),
        ("tl101()  # trainlint: ignore[TL101] we know\n", ["(1:TL101)"]),
        ("tl101()  # trainlint:ignore[tl1, TL3]\ntl301()\n", ["(1:TL101)", "1:TL000", "2:TL301"]),
        ("tl101()  # trainlint: ignore[softmax-before-cross-entropy]\n", ["(1:TL101)"]),
        ("tl101()  # type: ignore  # trainlint: ignore[ALL]\n", ["(1:TL101)"]),
        ("tl101(); tl301()  # trainlint: ignore[TL301]\n", ["1:TL101", "(1:TL301)"]),
        ("tl101()  # trainlint: ignore[TL101]  # trainlint: ignore[TL301]\n", ["(1:TL101)", "1:TL000"]),
        ("x = 'x  # trainlint: ignore'; tl101()\n", ["1:TL101"]),
        ("'''\n# trainlint: ignore-file\n'''\ntl101()\n", ["4:TL101"]),
        ("for x in tl101():  # trainlint: ignore\n    tl301()\n", ["(1:TL101)", "2:TL301"]),
        ("tl101()  # trainlint: ignore", ["(1:TL101)"]),
        ("tl101()  # trainlint: ignore\r\ntl301()\r\n", ["(1:TL101)", "2:TL301"]),
    ],
)
def test_a_line(project: Project, trainlint: Trainlint, source: str, expected: list[str]) -> None:
    assert found(project, trainlint, source) == expected


STATEMENT = """\
loss = f({0}
    tl101({1}
        x,{2}
    ),{3}
    y,{4}
){5}
tl301()
"""


@pytest.mark.parametrize(
    ("line", "silenced"), [(0, False), (1, True), (2, False), (3, True), (4, False), (5, True)]
)
def test_a_statement_over_several_lines(
    project: Project, trainlint: Trainlint, line: int, silenced: bool
) -> None:
    comments = ["  # trainlint: ignore[TL101]" if at == line else "" for at in range(6)]
    result = found(project, trainlint, STATEMENT.format(*comments))
    assert ("(2:TL101)" in result) is silenced
    assert (f"{line + 1}:TL000" in result) is not silenced
    assert "7:TL301" in result


def test_after_a_continued_line_and_a_long_string(project: Project, trainlint: Trainlint) -> None:
    source = "x = tl101() + \\\n    1  # trainlint: ignore\ny = tl101() + '''\n'''  # trainlint: ignore\n"
    assert found(project, trainlint, source) == ["(1:TL101)", "(3:TL101)"]


def test_a_whole_file(project: Project, trainlint: Trainlint) -> None:
    source = "tl101()\ntl301()\n\ndef f():\n    tl101()\n    # trainlint: ignore-file[TL1]\n"
    assert found(project, trainlint, source) == ["(1:TL101)", "2:TL301", "(5:TL101)"]
    assert found(project, trainlint, "# trainlint: ignore-file\ntl101()\n") == ["(2:TL101)"]


def test_suppressed_findings_are_counted_and_otherwise_silent(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()  # trainlint: ignore[TL101]\n"})
    outcome = trainlint("check")
    assert (outcome.exit_code, outcome.stdout) == (0, "Found nothing in 1 file (1 suppressed).\n")


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore", "this ignore matches nothing"),
        ("ignore[TL301]", "this ignore matches nothing"),
        ("ignore[TL301, TL3]", "this ignore matches nothing"),
        ("ignore-file[TL301]", "this ignore matches nothing"),
        ("ignore[TL101, missing-zero-grad]", "`missing-zero-grad` in this ignore matches nothing"),
        ("ignore[TL999]", "no rule is called `TL999`"),
        ("ignore[missing-zero-gard]", "did you mean `missing-zero-grad`?"),
        ("ignore[]", "has no rule in its brackets"),
        ("ignore TL101", "write `ignore[TL101]`"),
        ("ignroe[TL101]", "`trainlint: ignroe` is not a directive; did you mean `ignore`?"),
    ],
)
def test_a_comment_that_silences_nothing_is_reported(
    project: Project, trainlint: Trainlint, comment: str, message: str
) -> None:
    line = "x = 1" if comment == "ignore" else "tl101()"
    project({"a.py": f"{line}  # trainlint: {comment}\n"})
    outcome = trainlint("check")
    assert outcome.exit_code == 1
    assert f"warning[TL000] unused-ignore: {message}" in outcome.stdout or message in outcome.stdout


def test_a_comment_on_its_own_line_says_where_to_put_it(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "# trainlint: ignore[TL101]\ntl101()\n"})
    assert "put it at the end of the line" in trainlint("check").stdout


def test_unused_ignores_can_be_switched_off(project: Project, trainlint: Trainlint) -> None:
    source = "x = 1  # trainlint: ignore\n"
    assert found(project, trainlint, source) == ["1:TL000"]
    assert found(project, trainlint, source, "--select", "TL1") == []
    assert found(project, trainlint, source, "--ignore", "unused-ignore") == []


def test_a_comment_is_used_even_if_its_rule_is_off(project: Project, trainlint: Trainlint) -> None:
    source = "tl101_info()  # trainlint: ignore[TL101]\n"
    assert found(project, trainlint, source) == []
    assert found(project, trainlint, source, "--ignore", "TL101") == []


def test_nothing_is_said_of_comments_in_a_file_that_could_not_be_checked(
    project: Project, trainlint: Trainlint
) -> None:
    assert found(project, trainlint, "x = (  # trainlint: ignore\n") == []
    assert found(project, trainlint, "x = 1  # trainlint: ignore\n\ny = )\n") == []


def test_on_standard_input(trainlint: Trainlint) -> None:
    assert trainlint("check", "-", stdin="tl101()  # trainlint: ignore\n").exit_code == 0
