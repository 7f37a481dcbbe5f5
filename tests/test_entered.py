"""Which functions are entered on their own: not those that only make a model, load it, and hand it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainlint.check.analysis import Source, analyse

LIBRARY = """\
import torch
from torch import nn


def built(width, path=None):
    net = nn.Sequential(nn.Linear(8, width), nn.BatchNorm1d(width))
    if path is not None:
        net.load_state_dict(torch.load(path, weights_only=True))
    return net


"""


def entered(text: str) -> int:
    """Beside the body of the file."""
    return analyse([Source("models.py", (LIBRARY + text).encode())], jobs=1).entry_points - 1


@pytest.mark.parametrize(
    "body",
    [
        "return built(8, path)",
        "settings = dict(width=8)\n    return built(path=path, **dict(settings, **more))",
        "more.setdefault('width', 8)\n    net = built(path=path, **more)\n    return net",
        "if more.pop('features', None):\n        raise ValueError('no features')\n    return built(8, path)",
    ],
)
def test_what_only_hands_out_is_not(body: str) -> None:
    sizes = "\n\n".join(
        f'def size_{number}(path=None, **more):\n    "A size."\n    {body}\n' for number in range(5)
    )
    assert entered(sizes) == 1  # `built`, which none of these has called


@pytest.mark.parametrize(
    "body",
    [
        "net = built(8, path)\n    return net(more['x'])",
        "return built(8, path)(more['x'])",
        "net = built(8, path)\n    net.train()\n    return net",
        "with torch.no_grad():\n        return built(8, path)",
        "more['user'](built(8, path))\n    return None",
    ],
)
def test_what_may_use_it_is(body: str) -> None:
    uses = "\n\n".join(f"def use_{number}(path=None, **more):\n    {body}\n" for number in range(5))
    assert entered(uses) == 5


NOT_CALLED = """\
import torch


def step(net, x, y, optimizer):
    loss = torch.nn.functional.cross_entropy(net(x).softmax(-1), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def other_step(net, x, y, optimizer):
    loss = torch.nn.functional.cross_entropy(net(x).softmax(-1), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""

CALLS = """\
import torch
from torch import nn
import steps


def train(loader):
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        steps.step(net, x, y, optimizer)
"""


@pytest.mark.parametrize("enters_imported", [True, False])
def test_what_only_an_imported_file_has_is_entered_where_somebody_asks_for_it(
    tmp_path: Path, enters_imported: bool
) -> None:
    (tmp_path / "steps.py").write_text(NOT_CALLED)
    program = tmp_path / "program.py"
    program.write_text(CALLS)
    analysis = analyse([Source(str(program))], jobs=1, enters_imported=enters_imported)
    found = [one.at.line for one in analysis.imported if one.code == "TL101"]
    assert found == ([5, 12] if enters_imported else [5])  # `train` calls the first


NEARBY = """\
import torch


def step(net, x, y, optimizer):
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()


def also(optimizer):
    global scheduled
    {told}
"""


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ("step = len(optimizer)\n    print(step)", 1),  # a variable of that name
        ("for step in optimizer:\n        print(step)", 1),
        ("print(dict(step=3))", 1),
        ("backward = len(optimizer)\n    print(backward)", 2),  # a word of training, whatever it is
        ("print(step)", 2),
        ("optimizer.apply(step)", 2),
        ("step = optimizer\n    optimizer.step()", 2),
        ("getattr(optimizer, 'step')()", 2),
        ("def inner(step):\n        print(step)\n    inner(step)", 2),
        ("def inner(step):\n        print(step)\n    inner(optimizer)", 1),
        ("from elsewhere import step\n    print(step)", 2),
    ],
)
def test_what_only_has_a_variable_of_the_name_of_one_that_trains_is_not(told: str, count: int) -> None:
    text = NEARBY.format(told=told)
    assert analyse([Source("steps.py", text.encode())], jobs=1).entry_points - 1 == count


def test_a_global_variable_is_nobodys_own() -> None:
    told = "global step\n    step = optimizer\n    print(step)"
    text = NEARBY.format(told=told)
    assert analyse([Source("steps.py", text.encode())], jobs=1).entry_points - 1 == 2


@pytest.mark.parametrize(("told", "count"), [("autocast", 1), ("x.autocast", 2)])
def test_who_calls_one_with_a_variable_of_a_word_of_training_is_not(told: str, count: int) -> None:
    text = f"import torch\n\n\ndef a(x):\n    autocast = len(x)\n    return {told}\n\n\ndef b(x):\n    return x.apply(a)\n"
    assert analyse([Source("a.py", text.encode())], jobs=1).entry_points - 1 == count
