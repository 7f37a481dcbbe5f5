"""Programs of all kinds under a run: threads, patches of torch, many batches to a step."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.run_command import (
    CLEAN,
    FAILED,
    FOUND,
    SOUND,
    TRAINS,
    ending,
    found,
    python,
    report,
    run,
    write,
)
from tests.warm import ROOT


def test_the_thread_that_trains_is_recorded(tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in TRAINS.splitlines())
    text = f"import threading\ndef work():\n{body}\nt = threading.Thread(target=work, name='worker')\n"
    write(tmp_path, {"train.py": "import torch\n" + text + "t.start()\nt.join()\nprint('after')\n"})
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, ran.stdout, ran.stderr) == (FOUND, "step 0\n", "")
    assert found(tmp_path) == [("TL101", 6, "confirmed")]
    assert ending(tmp_path)["how"] == "recorded"


def test_what_a_second_thread_trains_is_not_taken_for_checked(tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in TRAINS.splitlines())
    first = "import torch\nfrom torch import nn\nnn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()\n"
    text = f"{first}import threading\ndef work():\n{body}\nt = threading.Thread(target=work, name='worker')\n"
    write(tmp_path, {"train.py": text + "t.start()\nt.join()\n"})
    ran = run(tmp_path, "train.py")
    assert ran.returncode == FOUND
    assert found(tmp_path) == [("TL101", 8, "not-reached")]
    assert any("training in worker" in one for one in report(tmp_path)["run"]["not_checked"])


def test_a_torch_that_is_too_old(tmp_path: Path) -> None:
    write(tmp_path, {"torch/__init__.py": "__version__ = '2.3.1'\n", "train.py": "import torch\n"})
    ran = run(tmp_path, "train.py", PYTHONPATH=os.pathsep.join((str(ROOT), str(tmp_path))))
    assert ran.returncode == FAILED
    assert "torch 2.3.1 is too old to be recorded: 2.4 or later is needed" in ran.stderr


@pytest.mark.parametrize("every", [1, 3, 16])
def test_gradients_may_be_accumulated_over_many_batches(every: int, tmp_path: Path) -> None:
    accumulating = SOUND.replace("range(3)", "range(60)").replace("    optimizer.zero_grad()\n", "")
    accumulating = accumulating.replace("loss.backward()", f"(loss / {every}).backward()").replace(
        "    optimizer.step()\n",
        f"    if step % {every} == {every - 1}:\n        optimizer.step()\n        optimizer.zero_grad()\n",
    )
    write(tmp_path, {"train.py": accumulating})
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, found(tmp_path)) == (CLEAN, [])


def test_an_optimizer_built_for_each_batch(tmp_path: Path) -> None:
    made = "optimizer = torch.optim.Adam(model.parameters())"
    each = SOUND.replace("range(3)", "range(60)").replace(
        "    optimizer.zero_grad()", f"    {made}\n    optimizer.zero_grad()"
    )
    write(tmp_path, {"train.py": each})
    assert run(tmp_path, "train.py").returncode == FOUND
    assert found(tmp_path) == [("TL307", 7, "confirmed")]
    assert ending(tmp_path)["how"] == "recorded"


KEPT = """
class once:
    def __init__(self, make):
        self.make, self.name = make, make.__name__

    def __get__(self, holder, owner=None):
        made = holder.__dict__[self.name] = self.make(holder)
        return made


class Job:
    @once
    def optimizer(self):
        return torch.optim.Adam(model.parameters())


job = Job()
"""


@pytest.mark.parametrize(("keeps", "code"), [(" = holder.__dict__[self.name]", CLEAN), ("", FOUND)])
def test_an_optimizer_that_the_first_batch_builds(keeps: str, code: int, tmp_path: Path) -> None:
    kept = KEPT.replace(" = holder.__dict__[self.name]", keeps)
    lazy = re.sub(r"optimizer = .*\n", lambda _: kept, SOUND).replace("    optimizer.", "    job.optimizer.")
    write(tmp_path, {"train.py": lazy})
    assert run(tmp_path, "train.py").returncode == code


LEFT_OPEN = """\
import torch
import torch.nn.functional as F
from torch import nn

setattr(torch, "softmax", lambda scores, dim: scores)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(1):
    loss = F.cross_entropy(torch.softmax(model(torch.randn(8, 4)), dim=-1), torch.randint(0, 3, (8,)))
    loss.backward()
    optimizer.step()
"""


def test_a_rule_that_leaves_a_line_open_says_nothing_of_what_others_found_there(tmp_path: Path) -> None:
    """Four rules about tokens leave each loss open that they cannot compare with an input: TL101 does not."""
    write(tmp_path, {"train.py": LEFT_OPEN})
    run(tmp_path, "train.py")
    assert found(tmp_path) == [("TL101", 9, "refuted"), ("TL301", 11, "undecided")]
    (_, step) = report(tmp_path)["findings"]
    assert step["evidence"] == {"left open": "whether the gradients are cleared before a second step"}


PATCHED = """\
import torch
import torch.nn.functional as F
from torch import nn
seen = []
def around(owner, name):
    kept = getattr(owner, name)
    def mine(*args, **kwargs):
        seen.append(name)
        return kept(*args, **kwargs)
    setattr(owner, name, mine)
around(torch.Tensor, "backward")
around(F, "cross_entropy")
around(nn.Module, "__call__")
around(torch.optim.SGD, "step")
around(torch.optim.Optimizer, "zero_grad")
around(torch, "softmax")
"""


def test_a_program_that_patches_torch(tmp_path: Path) -> None:
    program = PATCHED + TRAINS.replace('"step", step', "sorted(set(seen)), len(seen)")
    write(tmp_path, {"train.py": program})
    plain = python(tmp_path, "train.py")
    ran = run(tmp_path, "--steps", "50", "train.py")
    assert (ran.returncode, ran.stdout, ran.stderr) == (FOUND, plain.stdout, plain.stderr)
    assert {code for code, _, _ in found(tmp_path)} == {"TL101"}
    stopped = run(tmp_path, "train.py")
    assert (stopped.returncode, stopped.stdout) == (FOUND, plain.stdout.splitlines(keepends=True)[0])


WATCHFUL = """\
asked = []


class Key:
    def __repr__(self):
        asked.append("repr")
        return "key"


class Holder:
    def __init__(self):
        self.rows = [1]

    def __getattribute__(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)


kept = {Key(): [1], "holder": Holder()}
asked.clear()
import atexit
atexit.register(lambda: print("asked", asked))
"""


def test_what_a_program_holds_is_looked_at_without_asking_it(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": SOUND.replace("import torch\n", "import torch\n" + WATCHFUL, 1)})
    ran = run(tmp_path, "train.py")
    assert ran.returncode == CLEAN
    assert "asked []" in ran.stdout
