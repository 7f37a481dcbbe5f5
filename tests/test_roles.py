"""What names are, by what code does with them: each role, and the twin that only looks like it."""

from __future__ import annotations

import pytest

from trainlint.program.source import syntax as s
from trainlint.program.source.loading import load
from trainlint.program.source.roles import roles


def found(code: str) -> dict[str, str]:
    module = load(
        "train.py", f"import torch\ndef fit():\n    {code.replace(chr(10), chr(10) + '    ')}\n".encode()
    )
    assert isinstance(module, s.Module)
    (function,) = (one for one in module.body if isinstance(one, s.Function))
    return {name: part.role for name, part in roles(function.body).items()}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("net.train()\nout = net(x)", {"net": "module"}),
        ("net.train()", {}),
        ("out = net(x)", {}),
        ("self.net.eval()\nself.net(x)", {"self.net": "module"}),
        ("self.a.net.eval()\nself.a.net(x)", {"self.a.net": "module"}),
        ("self.a['net'].eval()\nself.a['net'](x)", {"self.a[net]": "module"}),
        ("self.a.b.net.eval()\nself.a.b.net(x)", {}),
        ("self.net.module.eval()\nself.net.module(x)", {}),
        ("thing.zero_grad()\nthing.step()", {"thing": "optimizer"}),
        ("opt.step()", {"opt": "optimizer"}),
        ("self.optimizer_g.step()", {"self.optimizer_g": "optimizer"}),
        ("thing.step()", {}),
        ("env.step()", {}),
        ("options.step()", {}),
        ("thing.step()\nthing.get_last_lr()", {"thing": "scheduler"}),
        ("lr_scheduler.step()", {"lr_scheduler": "scheduler"}),
        ("thing.scale(loss).backward()\nthing.step(opt)", {"thing": "scaler", "opt": "optimizer"}),
        ("thing.scale(loss).backward()\nthing.step(one)\nthing.step(other)", {"thing": "scaler"}),
        ("thing.scale(loss).backward()", {}),
        ("crit(out, y).backward()", {"crit": "loss", "y": "target"}),
        ("loss = crit(out, y)\nloss.backward()", {"crit": "loss", "y": "target"}),
        ("loss = 2 * crit(out, y)\nloss += 1\n(loss / 4).backward()", {"crit": "loss", "y": "target"}),
        (
            "scaler.scale(crit(out, y)).backward()\nscaler.update()",
            {"scaler": "scaler", "crit": "loss", "y": "target"},
        ),
        ("accelerator.backward(crit(out, y))", {"crit": "loss", "y": "target"}),
        ("crit(out, y)", {}),
        ("net(x).backward()", {}),
        ("net.train()\nnet(x, y).backward()", {"net": "module", "y": "target"}),
        ("def inner():\n    crit(out, y).backward()", {"crit": "loss", "y": "target"}),
        ("loss = crit(out, y)\nother.backward()", {}),
    ],
)
def test_roles(code: str, expected: dict[str, str]) -> None:
    assert found(code) == expected


def test_names_that_hold_each_other() -> None:
    assert found("a = b\nb = a\na = crit(p, q)\nb.backward()") == {"crit": "loss", "q": "target"}
