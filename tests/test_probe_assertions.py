"""Each probe as an assertion of a user's own test: on a model that is right, and on its twin that is not."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from trainlint import testing


@cache
def models() -> Any:
    """The classes of the models that are tried."""
    import torch
    from torch import nn

    class Classifier(nn.Module):
        def __init__(self, *, mixes: bool = False, counts: bool = False, is_blind: bool = False) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(8, 64), nn.Linear(64, 4)
            self.mixes, self.counts, self.is_blind = mixes, counts, is_blind
            self.scale = torch.ones(1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = torch.relu(self.first(x))
            if self.mixes:
                x = x.mean(0, keepdim=True).expand_as(x)
            if self.counts:
                self.scale = self.scale * 1.1
            if self.is_blind:
                x = torch.zeros_like(x)
            output: torch.Tensor = self.last(x) * self.scale
            return output

    class Sequence(nn.Module):
        def __init__(self, *, bidirectional: bool) -> None:
            super().__init__()
            self.tokens = nn.Embedding(20, 16)
            self.mixer = nn.GRU(16, 8, batch_first=True, bidirectional=bidirectional)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            output: torch.Tensor = self.mixer(self.tokens(tokens))[0]
            return output

    return SimpleNamespace(Classifier=Classifier, Sequence=Sequence)


def classifier(**options: bool) -> Any:
    return models().Classifier(**options)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    import torch

    torch.manual_seed(0)


def batch() -> tuple[Any, Any]:
    import torch

    return torch.randn(16, 8), torch.randint(4, (16,))


def cross_entropy(output: Any, targets: Any) -> Any:
    from torch import nn

    return nn.functional.cross_entropy(output, targets)


def test_overfits() -> None:
    testing.assert_overfits(classifier(), batch(), cross_entropy, seconds=3)
    with pytest.raises(AssertionError, match="failed: the loss of one batch falls from"):
        testing.assert_overfits(classifier(mixes=True), batch(), cross_entropy, seconds=3)


def test_resumes() -> None:
    import torch

    testing.assert_resumes(classifier(), batch(), cross_entropy)
    testing.assert_resumes(
        classifier(), batch(), cross_entropy, optimizer=lambda it: torch.optim.SGD(it, 0.1, momentum=0.9)
    )
    with pytest.raises(AssertionError, match="is in no `state_dict"):
        testing.assert_resumes(classifier(counts=True), batch(), cross_entropy)


def test_depends_on_input() -> None:
    testing.assert_depends_on_input(classifier(), batch()[0])
    testing.assert_depends_on_input(classifier(), {"x": batch()[0]})
    with pytest.raises(AssertionError, match="the same output"):
        testing.assert_depends_on_input(classifier(is_blind=True), batch()[0])


def test_a_last_layer_that_begins_with_zeros_depends_on_its_input() -> None:
    from torch import nn

    model = classifier()
    nn.init.zeros_(model.last.weight)
    nn.init.ones_(model.last.bias)
    testing.assert_depends_on_input(model, batch()[0])


def test_samples_independent() -> None:
    import torch

    testing.assert_samples_independent(classifier(), batch()[0])
    testing.assert_samples_independent(classifier(), torch.randn(8, 8))
    with pytest.raises(AssertionError, match="other samples in the batch"):
        testing.assert_samples_independent(classifier(mixes=True), batch()[0])


def test_causal() -> None:
    import torch

    tokens = torch.randint(20, (6, 12))
    testing.assert_causal(models().Sequence(bidirectional=False), tokens)
    with pytest.raises(AssertionError, match="later inputs change earlier outputs"):
        testing.assert_causal(models().Sequence(bidirectional=True), tokens)


def test_nothing_changes() -> None:
    import torch

    model, state = classifier(counts=True), torch.get_rng_state()
    before = {name: one.clone() for name, one in model.state_dict().items()}
    testing.assert_depends_on_input(model, torch.zeros(4, 8))
    assert torch.equal(torch.get_rng_state(), state) and float(model.scale) == 1
    assert all(torch.equal(one, before[name]) for name, one in model.state_dict().items())
