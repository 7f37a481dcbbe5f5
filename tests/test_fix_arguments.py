"""Fixes of calls: arguments, parentheses, and the style of what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixing import Check, fixed
from tests.training_text import training

CHECKPOINT = """import torch
from torch.utils.checkpoint import checkpoint

layer = torch.nn.Linear(4, 4)
out = {call}
out.sum().backward()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("checkpoint(layer, x)", "checkpoint(layer, x, use_reentrant=False)"),
        ("checkpoint(layer, x,)", "checkpoint(layer, x, use_reentrant=False,)"),
        ("checkpoint( layer, x )", "checkpoint( layer, x, use_reentrant=False )"),
        (
            "checkpoint(layer, (y for y in x))",
            "checkpoint(layer, (y for y in x), use_reentrant=False)",
        ),
        (
            "checkpoint(\n    layer,\n    x,  # the input\n)",
            "checkpoint(\n    layer,\n    x,  # the input\n    use_reentrant=False,\n)",
        ),
        (
            "checkpoint(\n    layer,\n    x  # the input\n)",
            "checkpoint(\n    layer,\n    x,  # the input\n    use_reentrant=False\n)",
        ),
        (
            "checkpoint(layer,\n                 x)",
            "checkpoint(layer,\n                 x,\n                 use_reentrant=False)",
        ),
        ("checkpoint(\n    layer, x\n)", "checkpoint(\n    layer, x,\n    use_reentrant=False\n)"),
    ],
)
def test_an_argument_is_added_in_the_style_of_the_call(check: Check, old: str, new: str) -> None:
    assert fixed(check, CHECKPOINT.format(call=old)) == CHECKPOINT.format(call=new)


LOADER = """import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

data = TensorDataset(torch.ones(8, 4))
sampler = RandomSampler(data)
loader = {call}
for (x,) in loader:
    torch.nn.Linear(4, 1)(x).sum().backward()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("DataLoader(data, shuffle=True, sampler=sampler)", "DataLoader(data, sampler=sampler)"),
        ("DataLoader(data, sampler=sampler, shuffle=True)", "DataLoader(data, sampler=sampler)"),
        ("DataLoader(data, sampler=sampler, shuffle=True,)", "DataLoader(data, sampler=sampler,)"),
        (
            "DataLoader(\n    data,\n    shuffle=True,\n    sampler=sampler,\n)",
            "DataLoader(\n    data,\n    sampler=sampler,\n)",
        ),
        (
            "DataLoader(\n    data,\n    sampler=sampler,\n    shuffle=True,\n)",
            "DataLoader(\n    data,\n    sampler=sampler,\n)",
        ),
        (
            "DataLoader(data, shuffle=True, sampler=sampler if data else None)",
            "DataLoader(data, shuffle=(sampler if data else None) is None, sampler=sampler if data else None)",
        ),
    ],
)
def test_an_argument_is_dropped_or_set(check: Check, old: str, new: str) -> None:
    assert fixed(check, LOADER.format(call=old), "--unsafe-fixes") == LOADER.format(call=new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Variable(a + b).cuda()", "(a + b).cuda()"),
        ("Variable(a + b)", "a + b"),
        ("-Variable(a + b)", "-(a + b)"),
        ("a * Variable(a + b)", "a * (a + b)"),
        ("(Variable(a + b))", "(a + b)"),
        ("[Variable(a if k else b)]", "[a if k else b]"),
        ("Variable(a if k else b)[0]", "(a if k else b)[0]"),
        ("Variable(a +\n             b)", "(a +\n             b)"),
        ("Variable(torch.ones(\n    4,\n))", "torch.ones(\n    4,\n)"),
        ("f'{Variable(a)}'", "f'{Variable(a)}'"),
    ],
)
def test_parentheses_are_put_where_they_are_needed(check: Check, old: str, new: str) -> None:
    text = """import torch
from torch.autograd import Variable

a, b, k = torch.ones(4), torch.ones(4), 3
x = {call}
torch.nn.Linear(4, 1)(a).backward()
"""
    assert fixed(check, text.format(call=old), "--extend-select", "TL209") == text.format(call=new)


def test_a_long_sum_is_no_obstacle(check: Check) -> None:
    terms = " + ".join(["1"] * 300)
    text = training(f"import torch\nlong = {terms}", "torch.cuda.amp.autocast()")
    assert 'torch.amp.autocast("cuda")' in fixed(check, text)


@pytest.mark.parametrize(
    ("strings", "put"),
    [("", '"cuda"'), ("'a', 'b', \"c\"", "'cuda'"), ("'a', \"b\"", '"cuda"'), ("'''a''', \"b\"", '"cuda"')],
)
def test_strings_stand_in_the_marks_of_the_file(check: Check, strings: str, put: str) -> None:
    text = training(f"import torch\n\nnames = ({strings})\n", "torch.cuda.amp.autocast()")
    assert f"torch.amp.autocast({put})" in fixed(check, text)


def test_a_name_that_another_file_gives_may_be_more_than_it_says(check: Check) -> None:
    Path("compat.py").write_text(
        "from functools import partial\n\nimport torch\n\nhalf = partial(torch.cuda.amp.autocast, enabled=False)\n"
    )
    Path("star.py").write_text("from torch import cuda\nfrom torch.cuda.amp import autocast\n")
    for name in ("autocast", "cuda.amp.autocast"):
        text = training("import torch\nfrom star import *", f"{name}()")
        assert 'torch.amp.autocast("cuda")' in fixed(check, text, "--select", "TL401")


@pytest.mark.parametrize("cut", ["{}.detach()", "{}.detach().clone()", "{}.clone().detach()", "{}"])
def test_a_tensor_is_cut_off_once(check: Check, cut: str) -> None:
    text = """import torch
from torch.autograd import Variable

y = torch.nn.Linear(4, 2)(torch.ones(1, 4))
x = {}
x.sum().backward()
"""
    after = cut.format("y") if cut != "{}" else "y.detach()"
    before = text.format(f"Variable({cut.format('y')}, requires_grad=True)")
    assert fixed(check, before, "--extend-select", "TL209") == text.format(f"{after}.requires_grad_()")


def test_one_of_several_functions_is_not_renamed(check: Check) -> None:
    text = """\
import sys

import torch
from torch import nn

INITIALISE = {"x": nn.init.xavier_uniform, "k": nn.init.kaiming_normal}
model = nn.Linear(1, 1)
INITIALISE[sys.argv[1]](model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 1)).sum().backward()
    optimizer.step()
"""
    assert fixed(check, text) == text
