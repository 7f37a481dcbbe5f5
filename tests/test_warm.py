"""A command in a fork of a process that has imported torch is what it is in a new process of Python."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.run_command import TRAINS, report, run, write
from tests.warm import Ran, python

IMPORTS = """\
import sys
before = set(sys.modules)
import {0}
print(sorted(set(sys.modules) - before - {{"typing.io", "typing.re"}}))  # no modules, but parts of one
assert {0}.__spec__.name == {0}.__name__ and {0}.__spec__._initializing is False
"""
SHADOWS = "import torch, rich\nprint(rich.OWN, torch.tensor(1))\n"
SAYS = """\
import atexit, sys, threading
atexit.register(print, "at the end")
threading.Thread(target=lambda: print("in a thread", sys.argv, sys.orig_argv[1:], __name__, __file__)).start()
print(sys.stdin.read(), sys.path[0], sorted(globals()), file=sys.stderr)
"""
SPAWNS = """\
import torch
import torch.multiprocessing as mp

def train(rank, results):
    results.put((rank, __name__, torch.ones(2).sum().item()))

if __name__ == "__main__":
    results = mp.get_context("spawn").SimpleQueue()
    mp.spawn(train, args=(results,), nprocs=2)
    print(sorted(results.get() for _ in range(2)))
"""
PROGRAMS = {
    "trains": TRAINS,
    "says": SAYS,
    "raises": "import torch\ndef wrong():\n    torch.ones(2) @ torch.ones(3)\nwrong()\n",
    "leaves": f"{SAYS}sys.exit(7)\n",
    "leaves with words": "import sys\nsys.exit('no data')\n",
    "is no python": "def (:\n",
    "shadows a module": SHADOWS,
    "spawns": SPAWNS,
    "spawns what raises": SPAWNS.replace("torch.ones(2)", "(torch.ones(2) @ torch.ones(3))").replace(
        "nprocs=2", "nprocs=1"
    ),
    "draws": "import torch, random\ntorch.manual_seed(0)\nprint(torch.randn(3))\nrandom.seed(0)\nprint(random.random())\n",
}


def both(arguments: list[str], folder: Path) -> tuple[Ran, Ran]:
    """In a fork, and in a new process."""
    forked, new = (python(arguments, folder, stdin="given", cold=cold) for cold in (False, True))
    return forked, new


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"train.py": PROGRAMS[name], "rich.py": "OWN = 1\n"})
    forked, new = both(["train.py", "one", "-2"], tmp_path)
    assert (forked.returncode, forked.stdout) == (new.returncode, new.stdout)
    assert forked.stderr == new.stderr


def test_each_draws_its_own_numbers(tmp_path: Path) -> None:
    draws = (
        "import random, numpy, torch\nprint(random.random(), numpy.random.random(), torch.rand(1).item())\n"
    )
    write(tmp_path, {"train.py": draws})
    first, second = (python(["train.py"], tmp_path).stdout.split() for _ in range(2))
    assert len({*first, *second}) == 6


@pytest.mark.parametrize("name", ["json", "torch"])
def test_what_an_import_imports(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"train.py": IMPORTS.format(name)})
    forked, new = both(["train.py"], tmp_path)
    assert forked.stderr == new.stderr == ""
    assert forked.stdout == new.stdout


@pytest.mark.parametrize("name", ["trains", "raises"])
def test_a_run(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"train.py": "import torch\ntorch.manual_seed(0)\n" + PROGRAMS[name]})
    said: list[tuple[Any, ...]] = []
    for cold in (False, True):
        ran = run(tmp_path, "--steps", "2", "train.py", cold=cold)
        said.append((ran.returncode, ran.stdout, ran.stderr, lasting(report(tmp_path))))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "arguments", [["check", "."], ["rules"], ["check", "nowhere.py"], ["no-such-command"]]
)
def test_a_command(arguments: list[str], tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TRAINS})
    forked, new = both(["-m", "trainlint", *arguments], tmp_path)
    assert (forked.returncode, forked.stderr) == (new.returncode, new.stderr)
    assert re.sub(r"\d+\.\d+ ?s", "", forked.stdout) == re.sub(r"\d+\.\d+ ?s", "", new.stdout)


def lasting(document: Any) -> Any:
    """A report without what is another in each run, times and numbers of values."""
    if isinstance(document, dict):
        return {
            name: lasting(one)
            for name, one in document.items()
            if "seconds" not in name and name not in ("uid", "timeline", "began", "at_seconds")
        }
    return [*map(lasting, document)] if isinstance(document, list) else document


def test_what_is_looked_at_is_what_a_report_says(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TRAINS})
    run(tmp_path, "train.py")
    assert json.dumps(lasting(report(tmp_path))).count("confirmed") >= 1
