"""What the server shows at once, where a check with all files takes long: it neither comes nor goes with the rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trainlint.program.incremental.importers import Graph
from trainlint.server import neighbours
from trainlint.server.documents import File, Text
from trainlint.server.engine import Engine, Snapshot
from trainlint.server.pace import Pace

if TYPE_CHECKING:
    from tests.conftest import Project

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return torch.softmax(self.fc(x), -1)

"""
TRAIN = """\
import torch
from torch import nn
from net import Net
from fitting import fit

criterion = nn.CrossEntropyLoss()
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
fit(model, data, False)
"""
FITTING = """\
import torch
from torch import nn

def fit(model, data, amp):
    if amp:
        with torch.cuda.amp.autocast(dtype=torch.bfloat16):
            out = model(data)
"""
LOOP = """\
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    nn.MSELoss()(model(x), y).backward()
    optimizer.step()
"""


class Open:
    """One file that is open, in a folder; `kind` of check is named by what it looks at."""

    def __init__(self, folder: Path, name: str) -> None:
        self._engine = Engine(pytest.fail)
        self._folder = folder
        self._path = str(folder / name)

    def quick(self, text: str) -> list[tuple[str, int]]:
        """Codes and lines of what is shown in the file."""
        return self._checked(text, whole=False)

    def whole(self, text: str) -> list[tuple[str, int]]:
        """The same after a quick check and a whole one, as the server has them."""
        document = self._snapshot(text)
        self._engine.check(document, whole=False)
        return self._found(document, whole=True)

    def _checked(self, text: str, *, whole: bool) -> list[tuple[str, int]]:
        return self._found(self._snapshot(text), whole=whole)

    def _snapshot(self, text: str) -> Snapshot:
        uri = Path(self._path).as_uri()
        return Snapshot((File(self._path, Text(uri, text, None)),), (str(self._folder),))

    def _found(self, snapshot: Snapshot, *, whole: bool) -> list[tuple[str, int]]:
        judged = self._engine.check(snapshot, whole=whole)
        return sorted((one.code, one.at.line) for one in judged.findings[self._path])


@pytest.fixture
def files(project: Project) -> Path:
    return project({"net.py": NET, "train.py": TRAIN, "fitting.py": FITTING, "trainlint.toml": ""})


def test_what_needs_other_files_stays_where_the_text_is_the_same(files: Path) -> None:
    net = Open(files, "net.py")
    assert net.quick(NET) == []
    assert net.whole(NET) == [("TL101", 10)]
    assert net.quick(f"import os\n{NET}") == [("TL101", 11)]
    assert net.quick(f"import os\n{NET}x = 1\n") == [("TL101", 11)]
    assert net.quick(NET.replace("torch.softmax(self.fc(x), -1)", "self.fc(x)")) == []
    assert net.whole(NET) == [("TL101", 10)]


def test_what_other_files_refute_does_not_come_back(files: Path) -> None:
    fitting = Open(files, "fitting.py")
    assert fitting.quick(FITTING) == [("TL401", 6)]
    assert fitting.whole(FITTING) == []
    assert fitting.quick(f"\n{FITTING}") == []
    assert fitting.quick(f"\n{FITTING}{LOOP}") == [("TL301", 12)]


def test_what_is_mended_is_gone_at_once(files: Path) -> None:
    text = f"{NET}model = Net()\n{LOOP}"
    net = Open(files, "net.py")
    assert net.whole(text) == [("TL101", 10), ("TL301", 16)]
    assert net.quick(text.replace("    nn.MSE", "    optimizer.zero_grad()\n    nn.MSE")) == [("TL101", 10)]


def test_comments_count_for_what_needs_other_files(files: Path) -> None:
    ignored = NET.replace("-1)", "-1)  # trainlint: ignore[TL101]").replace(
        "nn\n", "nn  # trainlint: ignore\n", 1
    )
    net = Open(files, "net.py")
    assert net.whole(ignored) == [("TL000", 2)]
    assert net.quick(f"import os\n{ignored}") == [("TL000", 3)]
    assert net.quick(ignored.replace("  # trainlint: ignore\n", "\n")) == []
    assert net.whole(NET) == [("TL101", 10)]
    assert net.quick(f"# trainlint: ignore-file[TL101]\n{NET}") == []


def test_the_nearest_files_are_checked_at_once_and_the_rest_later(project: Project) -> None:
    size = {"a.py": 10, "b.py": 100_000, "c.py": 100_000, "d.py": 10}
    imports = {"a.py": "b, c", "b.py": "d", "c.py": "d", "d.py": "a"}
    texts = {name: f"import {imports[name]}\n#{'x' * many}\n" for name, many in size.items()}
    folder = project(texts)

    def near(name: str, texts: Mapping[str, str]) -> set[str]:
        graph = Graph([str(folder / one) for one in texts])
        found = neighbours.near(graph, [str(folder / name)], lambda path: texts[Path(path).name].encode())
        return {Path(one).name for one in found}

    assert near("a.py", texts) == {"a.py", "b.py"}
    assert near("b.py", texts) == {"b.py", "d.py", "a.py", "c.py"}
    large = {**texts, "c.py": f"import b\n#{'x' * 1_000_000}"}  # a document itself is always checked
    assert near("c.py", large) == {"c.py", "b.py", "d.py", "a.py"}


def test_long_checks_keep_a_pace() -> None:
    pace = Pace()
    assert pace.is_quick and pace.begin(100) == 100
    pace.worked(0.1, 101, to_the_end=True)
    assert pace.is_quick and pace.begin(101) < 101.1
    pace.worked(8, 110, to_the_end=True)
    assert not pace.is_quick
    assert pace.begin(111) == 110 + 3 * 8  # no more than a quarter of the time
    assert pace.begin(150) == 151.6  # and in a pause
    pace.worked(1, 153, to_the_end=False)  # overtaken: it still takes as long as the one before
    assert pace.begin(153) == 156
    assert pace.begin(160) == 161.6
    pace.worked(0.2, 163, to_the_end=True)
    assert pace.is_quick and pace.begin(163) < 163.1
