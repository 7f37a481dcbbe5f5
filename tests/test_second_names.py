"""What torch lets people import from several places has one name here."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import pytest

from trainlint.facts.api.second_names import INNER_MODULES
from trainlint.facts.api.torch_names import canonical

PUBLIC = [
    ("torch.nn.utils.clip_grad.clip_grad_norm_", "torch.nn.utils.clip_grad_norm_"),
    ("torch.optim.adam.Adam", "torch.optim.Adam"),
    ("torch.distributions.normal.Normal.rsample", "torch.distributions.Normal.rsample"),
    ("torchvision.models.resnet.resnet50", "torchvision.models.resnet50"),
    ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
]
KEPT = [
    "torch.optim.lr_scheduler.StepLR",
    "torch.optim.swa_utils.AveragedModel",
    "torch.nn.utils.rnn.pad_sequence",
    "torchvision.models.detection.fasterrcnn_resnet50_fpn",
]


@pytest.mark.quick
@pytest.mark.parametrize(("inner", "public"), PUBLIC)
def test_inner_modules_go_by_the_name_of_their_package(inner: str, public: str) -> None:
    assert canonical(inner) == canonical(public)


@pytest.mark.quick
@pytest.mark.parametrize("name", KEPT)
def test_names_that_no_package_gives_stay(name: str) -> None:
    assert canonical(name) == name


def test_packages_give_what_their_inner_modules_hold() -> None:
    assert [(inner, public) for inner, public in given_twice() if canonical(inner) != canonical(public)] == []


def given_twice() -> Iterator[tuple[str, str]]:
    """Functions and classes of torch that an inner module defines and its package gives."""
    for module, package in INNER_MODULES.items():
        if not module.startswith("torch."):
            continue
        inner, outer = map(importlib.import_module, (module, package))
        given = [(name, value) for name, value in vars(outer).items() if getattr(inner, name, None) is value]
        assert given, module
        for name, value in given:
            if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value)):
                yield f"{module}.{name}", f"{package}.{name}"
