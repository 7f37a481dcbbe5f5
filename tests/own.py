"""A project with a rule of its own, and a program that it is about."""

from __future__ import annotations

RULE = """\
from collections.abc import Iterator

from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.values import constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Built, level="error", by="S")
def check(built: Built) -> Iterator[Finding]:
    layer = built.object
    if layer.type == "torch.nn.Dropout" and constant(layer.argument(0, "p")) == 1:
        yield Finding(built.at, "nothing is left")
"""
PAGE = "# ACME101 full-dropout\n\nAll values are dropped.\n"
TRAIN = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 32), nn.Dropout(1.0), nn.Linear(32, 1))
nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1)).backward()
"""
LINT = {"lint/acme101_full_dropout/rule.py": RULE, "lint/acme101_full_dropout/README.md": PAGE}
FILES = {**LINT, "trainlint.toml": 'rule-paths = ["lint"]\n', "train.py": TRAIN}
