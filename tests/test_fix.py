"""What fixes make of source: names, imports, comments, layout; and what comes after them."""

from __future__ import annotations

import pytest

from tests.fixing import Check, fixed
from tests.training_text import training
from trainlint.finding import Edit, Finding, Fix, Place
from trainlint.fixing.rounds import together


@pytest.mark.parametrize(
    ("imports", "old", "new"),
    [
        ("import torch", "torch.cuda.amp.autocast()", 'torch.amp.autocast("cuda")'),
        ("import torch\nfrom torch.cuda import amp", "amp.autocast()", 'torch.amp.autocast("cuda")'),
        ("import torch\nimport torch.cuda.amp as amp", "amp.autocast()", 'torch.amp.autocast("cuda")'),
        (
            "import torch\nfrom torch.cuda.amp import autocast as half",
            "half(enabled=False)",
            'torch.amp.autocast("cuda", enabled=False)',
        ),
        (
            "import torch\nfrom torch.cuda.amp import autocast",
            "autocast(False)",
            'torch.amp.autocast("cuda", enabled=False)',
        ),
        (
            "import torch\nfrom torch.cuda.amp import autocast",
            "autocast(False, torch.float16)",
            'torch.amp.autocast("cuda", enabled=False, dtype=torch.float16)',
        ),
        ("import torch\nfrom torch import amp", "torch.cuda.amp.autocast()", 'torch.amp.autocast("cuda")'),
        (
            "import torch\nfrom torch import amp\nfrom torch.cuda.amp import autocast",
            "autocast()",
            'amp.autocast("cuda")',
        ),
        ("import torch\nimport torch as t", "t.cpu.amp.autocast()", 't.amp.autocast("cpu")'),
    ],
)
def test_names_are_written_as_the_file_writes_them(check: Check, imports: str, old: str, new: str) -> None:
    assert fixed(check, training(imports, old)) == training(imports, new)


def test_an_import_that_is_needed_comes_above_those_of_the_same_package(check: Check) -> None:
    before = "import os\n\nfrom torch.cuda import amp\nfrom torch import nn, optim, ones\n"
    text = training(before, "amp.autocast()").replace("torch.nn", "nn").replace("torch.o", "o")
    assert "import os\n\nimport torch\nfrom torch.cuda import amp\n" in fixed(check, text)


def test_an_import_goes_below_docstring_and_future(check: Check) -> None:
    text = '"""Trains."""\n\nfrom __future__ import annotations\n\nfrom torch.cuda import amp\nfrom torch import nn, optim, ones\n'
    text = training(text, "amp.autocast()").replace("torch.nn", "nn").replace("torch.o", "o")
    after = fixed(check, text)
    assert "annotations\n\nimport torch\nfrom torch.cuda" in after
    compile(after, "train.py", "exec")


def test_a_name_that_is_taken_is_not_written(check: Check) -> None:
    text = training("from torch.cuda import amp\nfrom torch import nn, optim, ones", "amp.autocast()")
    text = text.replace("torch.nn", "nn").replace("torch.o", "o") + "\ntorch = 3\n"
    assert fixed(check, text) == text


def test_decorators_and_scalers(check: Check) -> None:
    text = """import torch
from torch.cuda.amp import GradScaler, autocast, custom_fwd


class Square(torch.autograd.Function):
    @staticmethod
    @custom_fwd
    def forward(ctx, x):
        return x * x

    @staticmethod
    @custom_fwd(cast_inputs=torch.float32)
    def other(ctx, x):
        return x


class Net(torch.nn.Module):
    @autocast()
    def forward(self, x):
        return Square.apply(x)


scaler = GradScaler(init_scale=2.0)
Net()(torch.ones(1)).sum().backward()
"""
    after = fixed(check, text)
    assert '    @torch.amp.custom_fwd(device_type="cuda")\n    def forward' in after
    assert '    @torch.amp.custom_fwd(cast_inputs=torch.float32, device_type="cuda")\n' in after
    assert '    @torch.amp.autocast("cuda")\n' in after
    assert 'scaler = torch.amp.GradScaler("cuda", init_scale=2.0)\n' in after


def test_comments_and_layout_stay(check: Check) -> None:
    autocast = """torch.cuda.amp.autocast(  # half precision
        # where it pays
        enabled=True,  # always
    )"""
    after = fixed(check, training("import torch  #   as ever", autocast))
    new = """torch.amp.autocast(  # half precision
        # where it pays
        "cuda",
        enabled=True,  # always
    )"""
    assert after == training("import torch  #   as ever", new)


def test_a_fix_that_would_lose_a_comment_is_not_made(check: Check) -> None:
    text = "import torch\nfrom torch.autograd import Variable\n\nx = Variable(\n    torch.ones(1),  # why\n)\nx.backward()\n"
    assert fixed(check, text) == text


def test_nested_findings_are_fixed_in_rounds(check: Check) -> None:
    text = """import torch
from torch.autograd import Variable

x = Variable(Variable(Variable(torch.ones(1)) + 1).cuda())
torch.nn.Linear(1, 1)(x).backward()
"""
    assert "x = (torch.ones(1) + 1).cuda()\n" in fixed(check, text, "--extend-select", "TL209")


def _replacing(*columns: tuple[int, int]) -> tuple[Finding, Fix]:
    places = [Place("a.py", 1, first, 1, last) for first, last in columns]
    return Finding(places[0], "wrong"), Fix("safe", "Do it", tuple(Edit(at, str(at.column)) for at in places))


@pytest.mark.parametrize(
    ("second", "count"),
    [
        pytest.param((4, 9), 1, id="overlap"),
        pytest.param((5, 9), 1, id="touch"),
        pytest.param((6, 9), 2, id="apart"),
        pytest.param((2, 3), 1, id="within"),
        pytest.param((5, 5), 1, id="insertion at the end"),
    ],
)
def test_of_two_edits_that_meet_one_waits(second: tuple[int, int], count: int) -> None:
    assert len(together([_replacing((1, 5)), _replacing(second)])) == count


def test_several_fixes_share_one_import(check: Check) -> None:
    text = """import torch

model, other = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=0.1)
best, best_other = None, None
for _ in range(3):
    best = model.state_dict()
    best_other = other.state_dict()
    optimizer.zero_grad()
    other(model(torch.ones(1, 1))).sum().backward()
    optimizer.step()
model.load_state_dict(best)
other.load_state_dict(best_other)
"""
    after = fixed(check, text)
    assert after.startswith("import copy\n\nimport torch\n") and after.count("import copy") == 1
    assert "    best = copy.deepcopy(model.state_dict())\n" in after
    assert "    best_other = copy.deepcopy(other.state_dict())\n" in after


def test_an_import_has_the_line_ends_of_its_file(check: Check) -> None:
    head = "from torch.cuda import amp\nfrom torch import nn, optim, ones\n"
    text = training(head, "amp.autocast()").replace("torch.nn", "nn").replace("torch.o", "o")
    after = fixed(check, text.replace("\n", "\r\n"))
    assert after.startswith("import torch\r\n") and "\n" not in after.replace("\r\n", "")


def test_an_import_for_type_checkers_is_none(check: Check) -> None:
    imports = """from typing import TYPE_CHECKING

from torch import nn, optim, ones
from torch.cuda import amp

if TYPE_CHECKING:
    import torch
"""
    text = training(imports, "amp.autocast()").replace("torch.nn", "nn").replace("torch.o", "o")
    assert fixed(check, text) == text


def test_a_name_of_a_method_or_another_function_does_not_hide_an_import(check: Check) -> None:
    text = training("import torch\nimport copy", "torch.cuda.amp.autocast()") + (
        "\n\nclass Other:\n    def torch(self):\n        pass\n\n\ndef other():\n    torch = 3\n    return torch\n"
    )
    assert 'torch.amp.autocast("cuda")' in fixed(check, text)


@pytest.mark.parametrize(
    "autocast",
    [
        "(torch.cuda.amp.autocast if len(sys.argv) > 1 else contextlib.nullcontext)()",
        "partial(torch.cuda.amp.autocast, enabled=False)()",
        "half()",
    ],
)
def test_only_what_an_import_names_is_replaced(check: Check, autocast: str) -> None:
    imports = "import contextlib\nimport sys\nfrom functools import partial\n\nimport torch\n\n"
    text = training(f"{imports}half = partial(torch.cuda.amp.autocast, enabled=False)\n", autocast)
    assert fixed(check, text, "--select", "TL401") == text


@pytest.mark.parametrize(
    "imports",
    [
        "def half():\n    from torch.cuda.amp import autocast\n\n    return autocast()\n",
        "try:\n    from torch.cuda import amp\nexcept ImportError:\n    amp = None\nhalf = amp.autocast\n",
    ],
)
def test_torch_is_not_imported_where_it_need_not_be_there(check: Check, imports: str) -> None:
    text = f"{imports}\nwith half():\n    print(1)\n"
    assert fixed(check, text, "--select", "TL401") == text


def test_an_import_goes_below_those_of_everything(check: Check) -> None:
    head = "import os\n\nfrom torch.cuda import amp\nfrom torch import nn, optim, ones\n"
    text = training(f"{head}from os.path import *\nimport sys\n", "amp.autocast()")
    text = text.replace("torch.nn", "nn").replace("torch.o", "o")
    after = fixed(check, text, "--select", "TL401")
    assert after.startswith(f"{head}from os.path import *\nimport torch\nimport sys\n")
    text = training(head, "amp.autocast()").replace("torch.nn", "nn").replace("torch.o", "o")
    after = fixed(check, f"{text}\nfrom os.path import *\n", "--select", "TL401")
    assert after.index("import torch\n") < after.index("torch.amp.") < after.index("import *")


SQUASHED = """import torch
from torch import nn
net = nn.Linear(8, 1)
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.load("rows.pt")
for _ in range(9):
    optimizer.zero_grad()
    out = net(x)
    out = torch.sigmoid(out)
    loss = nn.functional.binary_cross_entropy_with_logits(out, y)
    {more}
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("more", ["loss = loss + 1 - (2 * out * y).sum() / (out + y).sum()", "kept = [out]"])
def test_what_others_read_as_well_is_left_as_it_is(check: Check, more: str) -> None:
    text = SQUASHED.format(more=more)
    assert fixed(check, text, "--unsafe-fixes", "--select", "TL104") == text


@pytest.mark.parametrize("more", ["loss = loss * y.out", "print(loss, dict(out=y))", "out = net(y)"])
def test_what_one_reader_alone_reads_is_changed(check: Check, more: str) -> None:
    text = SQUASHED.format(more=more)
    assert "sigmoid" not in fixed(check, text, "--unsafe-fixes", "--select", "TL104")
