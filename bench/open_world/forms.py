"""Nine ways in which a training function comes by its model, optimizer, loader, loss, scheduler and scaler."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import NamedTuple

PARTS = ("model", "optimizer", "loader", "criterion", "scheduler", "scaler")
_MADE = {
    "optimizer": "torch.optim.SGD(model.parameters(), lr=0.1)",
    "loader": "torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)",
    "criterion": "nn.CrossEntropyLoss()",
    "scheduler": "torch.optim.lr_scheduler.StepLR(optimizer, 3)",
    "scaler": "torch.amp.GradScaler('cuda')",
}
_ANNOTATIONS = {
    "model": "nn.Module",
    "optimizer": "torch.optim.Optimizer",
    "loader": "torch.utils.data.DataLoader",
    "criterion": "nn.Module",
    "scheduler": '"torch.optim.lr_scheduler.LRScheduler | None"',
    "scaler": "Optional[torch.amp.GradScaler]",
}
_HEAD = "from typing import Optional\n\nimport torch\nfrom torch import nn\n"


class Written(NamedTuple):
    """A program, and on which line the body of its training function begins, from 1."""

    text: str
    first: int


def _written(head: str, body: str, depth: int, tail: str = "") -> Written:
    return Written(f"{head}{textwrap.indent(body, '    ' * depth)}\n{tail}", head.count("\n") + 1)


def _used(body: str) -> list[str]:
    return [name for name in PARTS if re.search(rf"\b{name}\b", body)]


def _made(body: str, model: str) -> str:
    """Everything that a body speaks of, made from a model."""
    names = [name for name in _used(body) if name != "model"]
    return "\n".join((f"model = {model}", *(f"{name} = {_MADE[name]}" for name in names))) + "\n"


def _in_sight(body: str) -> Written:
    net = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = nn.Linear(3, 3)\n"
        + (
            "        self.drop = nn.Dropout(0.1)\n\n    def forward(self, x):\n        return self.drop(self.body(x))\n"
        )
    )
    args = ", ".join(_used(body))
    head = f"{_HEAD}\n\n{net}\n\ndef fit({args}):\n"
    made = _made(body, "Net().to('cuda')")
    tail = (
        f"\n\ndata = torch.utils.data.TensorDataset(torch.randn(64, 3, device='cuda'))\n{made}fit({args})\n"
    )
    return _written(head, body, 1, tail)


def _annotated(body: str) -> Written:
    args = ", ".join(f"{name}: {_ANNOTATIONS[name]}" for name in _used(body))
    return _written(f"{_HEAD}\n\ndef fit({args}):\n", body, 1)


def _bare(body: str) -> Written:
    return _written(f"{_HEAD}\n\ndef fit({', '.join(_used(body))}):\n", body, 1)


def _renamed(body: str, spell: Callable[[str], str]) -> str:
    return re.sub(rf"(?<![.\w'])({'|'.join(PARTS)})\b(?!=)", lambda found: spell(found[1]), body)


def _of_self(body: str) -> Written:
    names = _used(body)
    kept = "\n".join(f"        self.{name} = {name}" for name in names)
    head = f"{_HEAD}\n\nclass Trainer:\n    def __init__(self, {', '.join(names)}):\n{kept}\n\n    def fit(self):\n"
    return _written(head, _renamed(body, lambda name: f"self.{name}"), 2)


def _of_config(body: str) -> Written:
    return _written(f"{_HEAD}\n\ndef fit(parts):\n", _renamed(body, lambda name: f'parts["{name}"]'), 1)


def _by_factory(model: str, line: str = "") -> Callable[[str], Written]:
    def write(body: str) -> Written:
        head = f"{_HEAD}{line}\n\ndef fit(data, cfg):\n{textwrap.indent(_made(body, model), '    ')}"
        return _written(head, body, 1)

    return write


def _instantiated(body: str) -> Written:
    names = _used(body)
    made = {name: f"hydra.utils.instantiate(cfg.{name})" for name in names}
    if "optimizer" in made:
        made["optimizer"] = "hydra.utils.instantiate(cfg.optimizer, params=model.parameters())"
    lines = "".join(f"    {name} = {made[name]}\n" for name in names)
    return _written(f"{_HEAD}import hydra\n\n\ndef fit(cfg):\n{lines}", body, 1)


FORMS: Mapping[str, Callable[[str], Written]] = {
    "all in sight": _in_sight,
    "annotated": _annotated,
    "bare": _bare,
    "self": _of_self,
    "dict": _of_config,
    "build_model()": _by_factory("build_model(cfg)", "from models import build_model\n"),
    "timm": _by_factory("timm.create_model('resnet18', num_classes=3).to('cuda')", "import timm\n"),
    "AutoModel": _by_factory(
        "AutoModelForImageClassification.from_pretrained(cfg.name).to('cuda')",
        "from transformers import AutoModelForImageClassification\n",
    ),
    "instantiate": _instantiated,
}
"""By name, what writes the program around a body."""
