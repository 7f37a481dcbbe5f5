"""Fixes that move, add or drop statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixing import Check, fixed


def test_assignments_that_become_idle_go(check: Check) -> None:
    text = """import torch
from torch.autograd import Variable

model = torch.nn.Linear(4, 2)
for x, y in [(torch.ones(1, 4), torch.zeros(1).long())]:
    x, y = Variable(x, volatile=True), Variable(y, volatile=True)
    x = Variable(x, volatile=True)
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
        ("    x = x\n    x = Variable(x, volatile=True)", "    x = x"),
        ("    x = Variable(x, volatile=True)\n    x = x", "    x = x"),
        (
            "    x, y = x, y\n    x, y = Variable(x, volatile=True), Variable(y, volatile=True)",
            "    x, y = x, y",
        ),
        ("    x = Variable(x, volatile=True); y = Variable(y, volatile=True)", "    x = x; y = y"),
        ("    x = (\n        Variable(x, volatile=True)\n    )\n    y = Variable(y, volatile=True)", None),
        (
            "    a = 1\n\n    x = Variable(x, volatile=True)\n    y = Variable(y, volatile=True)\n\n    b = 2",
            "    a = 1\n\n    b = 2",
        ),
        ("    a = 1\n\n    x = Variable(x, volatile=True)\n    b = 2", "    a = 1\n\n    b = 2"),
        ("    x = Variable(x, volatile=True)  # a leaf", "    x = x  # a leaf"),
        ("    # a leaf\n    x = Variable(x, volatile=True)", "    # a leaf\n    x = x"),
        ("    if y:\n        x = Variable(x, volatile=True)", "    if y:\n        x = x"),
        (
            "    if y:\n        x = Variable(x, volatile=True)\n        y = Variable(y, volatile=True)",
            "    if y:\n        x = x\n        y = y",
        ),
        ("    if y: x = Variable(x, volatile=True)", "    if y: x = x"),
        ("    z = x = Variable(x, volatile=True)", "    z = x = x"),
        ("    é = x; s = 'é'\n    x = Variable(x, volatile=True)", "    é = x; s = 'é'"),
    ],
)
def test_only_what_fixes_made_idle_goes(check: Check, before: str, after: str | None) -> None:
    lines = [] if after is None else [after]
    expected = LOOP.replace("{lines}\n", "".join(f"{one}\n" for one in lines))
    assert fixed(check, LOOP.format(lines=before), "--select", "TL209") == expected


def test_what_gives_a_class_an_attribute_is_not_idle(check: Check) -> None:
    text = LOOP.format(lines="    pass") + "\n\nclass Net:\n    x = Variable(x, volatile=True)\n    y = 1\n"
    assert "    x = x\n    y = 1" in fixed(check, text, "--unsafe-fixes")


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
