"""What the bytes of a file tell before it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainlint.program.incremental.project_files import Files
from trainlint.program.source.prefilter import imports, worth_reading
from trainlint.project.bytes_on_disk import Contents


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_imports_are_seen_whatever_ends_a_line(end: str) -> None:
    text = end.join(("import os", "from net import Net", "  import loss as l, data", "x = 'import rest'"))
    files = Files(dict.fromkeys(("net.py", "loss.py", "data.py", "rest.py", "main.py")))
    assert imports("main.py", text.encode(), files) == {"net.py", "loss.py", "data.py"}


TRAINS = "def step(loss, optimizer):\n    loss.backward()\n    optimizer.step()\n"
DOES_NOT = "def step(loss, optimizer):\n    return loss\n"
MAKES = "import torch\nfrom parts import step\nstep(torch.ones(1), None)\n"
NAMES_NOTHING = "from parts import step\nstep(1, None)\n"


@pytest.mark.parametrize(
    ("program", "hands_on", "part", "is_read"),
    [
        (MAKES, None, TRAINS, True),
        (MAKES, "from deeper import step\n", TRAINS, True),
        (MAKES, None, DOES_NOT, False),
        (NAMES_NOTHING, None, TRAINS, False),
    ],
)
def test_a_script_is_read_for_what_it_hands_to_an_imported_file(
    program: str,
    hands_on: str | None,
    part: str,
    is_read: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.py").write_text(program)
    Path("parts.py").write_text(hands_on or part)
    Path("deeper.py").write_text(part)
    wanted = worth_reading(["main.py"], Contents({}), Files({"main.py": None}))
    assert ("main.py" in wanted) is is_read
