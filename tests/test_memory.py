"""What is released when an entry point is done is nothing that another one asks for."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from tests.test_order import checked, sample
from tests.test_scenarios import Scenario
from trainlint import limits

HEAD = "import torch\nfrom torch import nn\n\n\n"
MODEL = """\
class Model{i}(nn.Module):
    def __init__(self):
        super().__init__()
        self.probabilities = nn.Softmax(dim=1)
        self.layer = nn.Linear(4, 4)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.layer(x)

    def training_loss(self, x, y):
        loss = self.criterion({output}, y)
        loss.backward()
        return loss


"""


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """As little as can be is kept, and all is collected that can be."""
    for name in ("PROTOTYPES", "PLACES", "ENTRIES_PER_COLLECTION"):
        monkeypatch.setattr(limits, name, 1)
    monkeypatch.setattr(limits, "MANY_ENTRIES", 0)
    monkeypatch.setattr(limits, "MANY_FILES", 0)
    monkeypatch.setattr(gc, "unfreeze", lambda: None)  # or collections go through all that tests have made


@pytest.mark.parametrize("scenario", sample(12), ids=lambda scenario: scenario.name)
def test_findings_are_the_same(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    scenario.write(tmp_path)
    with_much = checked(scenario.files)
    request.getfixturevalue("little")
    assert checked(scenario.files) == with_much


def test_methods_see_an_instance_that_is_made_again(little: None) -> None:
    """Classes first, then their methods: the instance of the first class is gone by then."""
    bug = "self.probabilities(self.layer(x))"
    text = HEAD + "".join(MODEL.format(i=i, output=bug) for i in range(4))
    found = [one.at.line for one in checked({"train.py": text}) if one.code == "TL101"]
    assert len(found) == 4
    text = HEAD + "".join(MODEL.format(i=i, output="self.layer(x)") for i in range(4))
    assert not [one for one in checked({"train.py": text}) if one.code == "TL101"]


def test_decorators_that_write_documentation_take_nothing_from_others() -> None:
    """What one may take is its own: the loss below is followed, through a helper, as if there were no decorators."""
    documented = (
        "def cleaned(text):\n"
        + "    text = text.strip().replace('a', 'b').lower().split('.')[0]\n" * 20
        + "    return text\n\n\ndef documented(cls):\n    text = cls.__doc__\n"
        + "    text = cleaned(text)\n" * 12
        + "    return cls\n\n\n"
    )
    classes = "".join(f"@documented\nclass Config{i}:\n    rate = {i}\n\n\n" for i in range(12))
    loop = """\
def loss_of(output, y):
    return nn.functional.cross_entropy(output, y)


model = nn.Linear(4, 4)
x = torch.ones(2, 4)
loss_of({output}, torch.ones(2).long()).backward()
"""
    for output, expected in (("model(x).softmax(1)", 1), ("model(x)", 0)):
        text = HEAD + documented + classes + loop.format(output=output)
        assert sum(one.code == "TL101" for one in checked({"train.py": text})) == expected
