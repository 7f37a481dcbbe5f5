"""Programs of which a limit leaves calls out: what these may have done is not held against the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainlint import limits
from trainlint.check.analysis import Source, analyse
from trainlint.finding import Finding

START = """\
import torch
from torch import nn


def more(x):
    return x + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1))

    def forward(self, x):
        return self.layers(x)


def look(net: Net):
    return net


class Method:
    def __init__(self, net: Net):
        self.net = net

    def begin(self):
        self.net.eval()

    def end(self):
        self.net.train()

    def end_by_another(self):
        self.end()


class Held:
    def __init__(self, net: Net):
        self.nets = {"net": net}

    def end(self):
        for one in self.nets.values():
            one.train()

"""
MODES = """
def main(batches):
    net = Net()
    method = Method(net)
    optimizer = torch.optim.Adam(net.parameters())
    for x in batches:
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        net.eval()
        more(more(more(more(more(more(more(more(1))))))))
        method.end()
"""
STEPPING = """
def main(batches):
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    for x in batches:
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        optimizer.step()
        loss.backward()
    more(1)
"""


def found(text: str, code: str, monkeypatch: pytest.MonkeyPatch, folder: Path, steps: int) -> list[Finding]:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(limits, "PART_STEPS", steps)
    monkeypatch.setattr(limits, "STEPS_PER_NAME", 0)
    Path("train.py").write_text(START + text)
    return [one for one in analyse([Source("train.py")]).findings if one.code == code]


@pytest.mark.parametrize(
    ("end", "method"),
    [("method.end()", "Method"), ("method.end_by_another()", "Method"), ("method.end()", "Held")],
)
@pytest.mark.parametrize("steps", range(0, 120, 12))
def test_a_mode_that_a_call_may_have_switched_is_not_known(
    steps: int, end: str, method: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = MODES.replace("method.end()", end).replace("Method(net)", f"{method}(net)")
    assert found(text, "TL310", monkeypatch, tmp_path, steps) == []
    for_good = MODES.replace("method.end()", "method.begin()")
    assert len(found(for_good, "TL310", monkeypatch, tmp_path, limits.PROGRAM_STEPS)) == 1


def test_a_call_that_switches_nothing_leaves_the_mode(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    looked = MODES.replace("method.end()", "look(net)")
    for steps in (60, limits.PROGRAM_STEPS):
        assert len(found(looked, "TL310", monkeypatch, tmp_path, steps)) == 1


def test_what_is_missing_is_only_likely_to_be_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (whole,) = found(STEPPING, "TL303", monkeypatch, tmp_path, limits.PROGRAM_STEPS)
    (cut,) = found(STEPPING, "TL303", monkeypatch, tmp_path, 30)
    assert (whole.confidence, cut.confidence) == ("certain", "likely")
    assert "too large" in cut.doubt


def test_what_is_there_is_as_certain_as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    softmax = STEPPING.replace(
        "net(x).pow(2).mean()", "nn.functional.cross_entropy(net(x).softmax(1), x.argmax(1))"
    )
    (cut,) = found(softmax, "TL101", monkeypatch, tmp_path, 30)
    assert cut.confidence == "certain"
