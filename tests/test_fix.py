"""What fixes make of source: names, imports, comments, layout; and what comes after them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixing import Check, fixed
from trainlint.finding import Edit, Finding, Fix, Place
from trainlint.fixing.rounds import together

TRAINING = """
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    with {autocast}:
        loss = model(torch.ones(2, 4)).mean()
    loss.backward()
    optimizer.step()
"""


def training(imports: str, autocast: str) -> str:
    return f"{imports}\n{TRAINING.format(autocast=autocast)}"


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


def test_assignments_that_become_idle_go(check: Check) -> None:
    text = """import torch
from torch.autograd import Variable

model = torch.nn.Linear(4, 2)
for x, y in [(torch.ones(1, 4), torch.zeros(1).long())]:
    x, y = Variable(x), Variable(y)
    x = Variable(x)
    y = y
    torch.nn.functional.cross_entropy(model(x), y).backward()
"""
    after = fixed(check, text)
    assert "Variable(" not in after and "x = x" not in after and "x, y = x, y" not in after
    assert "    y = y\n" in after, "what was idle before is the user's"


LOOP = """import torch
from torch.autograd import Variable

model = torch.nn.Linear(4, 2)
for x, y in [(torch.ones(1, 4), torch.zeros(1).long())]:
{lines}
    torch.nn.functional.cross_entropy(model(x), y).backward()
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    x = x\n    x = Variable(x)", "    x = x"),
        ("    x = Variable(x)\n    x = x", "    x = x"),
        ("    x, y = x, y\n    x, y = Variable(x), Variable(y)", "    x, y = x, y"),
        ("    x = Variable(x); y = Variable(y)", "    x = x; y = y"),
        ("    x = (\n        Variable(x)\n    )\n    y = Variable(y)", None),
        ("    a = 1\n\n    x = Variable(x)\n    y = Variable(y)\n\n    b = 2", "    a = 1\n\n    b = 2"),
        ("    a = 1\n\n    x = Variable(x)\n    b = 2", "    a = 1\n\n    b = 2"),
        ("    x = Variable(x)  # a leaf", "    x = x  # a leaf"),
        ("    # a leaf\n    x = Variable(x)", "    # a leaf\n    x = x"),
        ("    if y:\n        x = Variable(x)", "    if y:\n        x = x"),
        (
            "    if y:\n        x = Variable(x)\n        y = Variable(y)",
            "    if y:\n        x = x\n        y = y",
        ),
        ("    if y: x = Variable(x)", "    if y: x = x"),
        ("    z = x = Variable(x)", "    z = x = x"),
        ("    é = x; s = 'é'\n    x = Variable(x)", "    é = x; s = 'é'"),
    ],
)
def test_only_what_fixes_made_idle_goes(check: Check, before: str, after: str | None) -> None:
    lines = [] if after is None else [after]
    expected = LOOP.replace("{lines}\n", "".join(f"{one}\n" for one in lines))
    assert fixed(check, LOOP.format(lines=before), "--select", "TL209") == expected


def test_what_gives_a_class_an_attribute_is_not_idle(check: Check) -> None:
    text = LOOP.format(lines="    pass") + "\n\nclass Net:\n    x = Variable(x)\n    y = 1\n"
    assert "    x = x\n    y = 1" in fixed(check, text, "--unsafe-fixes")


def test_nested_findings_are_fixed_in_rounds(check: Check) -> None:
    text = """import torch
from torch.autograd import Variable

x = Variable(Variable(Variable(torch.ones(1)) + 1).cuda())
torch.nn.Linear(1, 1)(x).backward()
"""
    assert "x = (torch.ones(1) + 1).cuda()\n" in fixed(check, text)


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
    assert fixed(check, text.format(call=old)) == text.format(call=new)


def test_statements_are_put_where_their_names_are(check: Check) -> None:
    text = """import torch

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")


class Trainer:
    def step(self):
        # not too far
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # one
        scaler.step(optimizer)
        scaler.update()


trainer = Trainer()
for _ in range(3):
    optimizer.zero_grad()
    scaler.scale(model(torch.ones(1, 1)).sum()).backward()
    trainer.step()
"""
    clip = "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # one\n"
    assert fixed(check, text, "--unsafe-fixes", "--select", "TL404") == text.replace(
        clip, f"        scaler.unscale_(optimizer)\n{clip}"
    )


def test_a_loop_goes_below_a_context(check: Check) -> None:
    text = '''import torch

model = torch.nn.Linear(1, 1)
model.eval()
with open("log") as file:
    # every batch
    for x in torch.ones(3, 1, 1):
        said = """
  as it is"""
        print(model(x), said,
              file=file)
    else:
        print("done")
'''
    after = '''import torch

model = torch.nn.Linear(1, 1)
model.eval()
with open("log") as file:
    # every batch
    with torch.no_grad():
        for x in torch.ones(3, 1, 1):
            said = """
  as it is"""
            print(model(x), said,
                  file=file)
        else:
            print("done")
'''
    assert fixed(check, text, "--unsafe-fixes", "--select", "TL312") == after


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


def test_a_long_sum_is_no_obstacle(check: Check) -> None:
    terms = " + ".join(["1"] * 300)
    text = training(f"import torch\nlong = {terms}", "torch.cuda.amp.autocast()")
    assert 'torch.amp.autocast("cuda")' in fixed(check, text)


SCHEDULED = """import torch

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for epoch in range(3):
    scheduler.step()
    for x in torch.ones(3, 1, 1):
        if x.sum() > 9:
            continue
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize("end", ["", "    print(epoch)\n", "    if epoch == 7:\n        break\n"])
def test_a_scheduler_does_not_go_below_what_may_end_the_round(check: Check, end: str) -> None:
    text = SCHEDULED + end
    moved = text.replace("    scheduler.step()\n", "") + "    scheduler.step()\n"
    assert fixed(check, text, "--unsafe-fixes", "--select", "TL304") == (text if "break" in end else moved)


def test_a_generator_does_not_hand_its_context_to_others(check: Check) -> None:
    text = """import torch

model = torch.nn.Linear(1, 1)
model.eval()


def outputs():
    for x in torch.ones(3, 1, 1):
        yield model(x).item()


print(list(outputs()))
for x in torch.ones(3, 1, 1):
    print(model(x).item())
"""
    after = fixed(check, text, "--unsafe-fixes", "--select", "TL312")
    assert after.startswith(text[: text.index("for x in torch.ones(3, 1, 1):\n    print")])
    assert after.endswith(
        "with torch.no_grad():\n    for x in torch.ones(3, 1, 1):\n        print(model(x).item())\n"
    )


@pytest.mark.parametrize(
    ("test", "goes"), [("torch.cuda.is_available()", True), ("x.sum() > 1", False), ("take(x)", False)]
)
def test_a_condition_that_may_do_something_stays(check: Check, test: str, goes: bool) -> None:
    text = f"""import torch
from other import take

model = torch.nn.Linear(1, 1)
for x in torch.ones(3, 1, 1):
    model(x).sum().backward()
    if {test}:
        torch.cuda.empty_cache()
"""
    after = fixed(check, text, "--unsafe-fixes", "--select", "TL803")
    assert after == (text[: text.index("    if")] if goes else text)


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
    assert fixed(check, text.format(f"Variable({cut.format('y')}, requires_grad=True)")) == text.format(
        f"{after}.requires_grad_()"
    )


def test_what_one_function_trains_and_evaluates_is_left(check: Check) -> None:
    text = """import torch

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def epoch(optimizer=None):
    total = 0.0
    for x in torch.ones(3, 1, 1):
        loss = model(x).mean()
        total += loss.item()
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return total


for _ in range(3):
    model.train()
    epoch(optimizer)
    model.eval()
    print(epoch())
"""
    file = Path("train.py")
    file.write_text(text)
    assert [one["code"] for one in check("--output-format", "json", "train.py").findings] == ["TL312"]
    assert fixed(check, text, "--unsafe-fixes") == text


def test_a_function_of_the_file_has_no_instance_to_ask_for_its_mode(check: Check) -> None:
    Path("attention.py").write_text(
        "from torch.nn import functional as F\n\n\n"
        "def attend(x, dropout):\n    return F.dropout(x.softmax(-1), dropout) @ x\n"
    )
    net = (
        "from attention import attend\nfrom torch import nn\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return attend(x, 0.1)\n\n\nprint(Net()(x))\n"
    )
    assert fixed(check, net, ".") == net
    assert {(one["code"], str(one["fix"])) for one in check("--output-format", "json", ".").findings} == {
        ("TL904", "None")
    }


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
