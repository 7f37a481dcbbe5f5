"""What the bytes of a file tell before it is read."""

from __future__ import annotations

import pytest

from trainlint.program.incremental.project_files import Files
from trainlint.program.source.prefilter import imports


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_imports_are_seen_whatever_ends_a_line(end: str) -> None:
    text = end.join(("import os", "from net import Net", "  import loss as l, data", "x = 'import rest'"))
    files = Files(dict.fromkeys(("net.py", "loss.py", "data.py", "rest.py", "main.py")))
    assert imports("main.py", text.encode(), files) == {"net.py", "loss.py", "data.py"}
