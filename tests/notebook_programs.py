"""Programs in cells, and what is found in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fixing import Check

SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text())


MODEL = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=-1)"""


LOSS = "criterion = nn.CrossEntropyLoss()"


LOOP = """model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.ones(2, 4), torch.tensor([0, 1]))]:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()"""


SOFTMAX = "torch.softmax(self.fc(x), dim=-1)"


OLD = "x = torch.autograd.Variable(torch.ones(2), volatile=True)"
"""One finding, TL209, wherever it stands below `import torch`."""


TRAINS = "import torch\nloss = torch.nn.MSELoss()"


def found(check: Check, *arguments: str) -> list[tuple[str, int | None, int]]:
    """Code, cell and line of each finding."""
    ran = check("--output-format", "json", *arguments)
    return [(one["code"], one["cell"], one["line"]) for one in ran.findings]


def errors(check: Check, *arguments: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(check("--output-format", "json", *arguments).stdout)["errors"]
    return listed
