"""`trainlint run --trace` as people use it: the program behaves as under `python`, and each ending has its exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.run_command import (
    CLEAN,
    FAILED,
    FOUND,
    PROGRAM_FAILED,
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
from trainlint.cli.app import app
from trainlint.cli.program_arguments import divided


@pytest.mark.parametrize(
    ("name", "streams"), [("json", (False, True)), ("github", (True, False)), ("text", (True, False))]
)
def test_a_report_that_programs_read_stands_alone(
    tmp_path: Path, name: str, streams: tuple[bool, bool]
) -> None:
    write(tmp_path, {"train.py": TRAINS})
    ran = python(tmp_path, *"-m trainlint run --no-cache --output-format".split(), name, "train.py")
    assert ("step 0\n" in ran.stdout, "step 0\n" in ran.stderr) == streams
    if name == "json":
        assert json.loads(ran.stdout)["findings"]


def test_findings_with_their_verdicts_and_a_trace_that_says_the_same_without_torch(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TRAINS})
    ran = run(tmp_path, "--save-trace", "kept.trace", "train.py", cold=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (FOUND, "step 0\n", "")
    said = report(tmp_path)
    (finding,) = said["findings"]
    assert (finding["code"], finding["line"], finding["verdict"]) == ("TL101", 3, "confirmed")
    assert finding["evidence"]
    assert "subject" in finding
    assert said["summary"]["by_verdict"] == {
        "confirmed": 1,
        "refuted": 0,
        "undecided": 0,
        "not-reached": 0,
        "observed": 0,
    }
    assert said["run"]["ending"]["how"] == "recorded"
    assert said["run"]["arguments"] == ["train.py"]
    assert said["run"]["optimizers"][0]["type"] == "torch.optim.SGD"
    assert {one["name"] for one in said["run"]["parameters"]} == {"0.weight", "0.bias"}

    options = [
        "-m",
        "trainlint",
        "run",
        "--from-trace",
        "kept.trace",
        "--no-cache",
        "--output-format",
        "json",
    ]
    again = python(tmp_path, *options, PYTHONPATH=f"{ROOT / 'fixtures/poison'}{os.pathsep}{ROOT}")
    assert (again.returncode, again.stderr) == (FOUND, "")
    assert json.loads(again.stdout)["findings"] == said["findings"]
    assert json.loads(again.stdout)["run"] == said["run"]

    whole = (tmp_path / "kept.trace").read_text()
    write(
        tmp_path,
        {
            "cut.trace": whole[: len(whole) // 2],
            "other.trace": '{"version": 1}',
            "list.trace": "[1, 2]",
            "later.trace": whole.replace('"trainlint-trace":2', '"trainlint-trace":99', 1),
            "wild.trace": whole.replace('"value":', '"value":9', 3),
        },
    )
    (tmp_path / "binary.trace").write_bytes(bytes(range(256)))
    for name in ("cut", "other", "list", "later", "wild", "binary", "missing"):
        bad = CliRunner().invoke(app, ["run", "--from-trace", str(tmp_path / f"{name}.trace")])
        assert bad.exit_code == FAILED, (name, bad.output)
        assert bad.stderr.startswith("error: ") and bad.stderr.count("\n") == 1, (name, bad.stderr)


def test_text_for_people_comes_after_what_the_program_says(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TRAINS})
    ran = python(tmp_path, "-m", "trainlint", "run", "--no-cache", "train.py")
    assert ran.returncode == FOUND
    first, second, third, *_ = ran.stdout.splitlines()
    assert (first, second[:12], third[:11]) == ("step 0", "error[TL101]", "  confirmed")


ABOUT = """\
import argparse, atexit, multiprocessing, os, pickle, sys
from helper import NAME


class Kept:
    def __eq__(self, other):
        return type(self) is type(other)


def doubled(value):
    return 2 * value


if __name__ == "__main__":
    atexit.register(print, "at exit")
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int)
    parser.add_argument("--select", nargs="*")
    parser.add_argument("-m", action="store_true")
    print(parser.parse_args(), sys.argv, sys.path, __file__, __name__, __package__, __doc__)
    print(sorted(globals()), type(__builtins__), type(__loader__), __spec__ and __spec__.name, NAME)
    print(sorted(os.environ.items()), os.getcwd(), sys.stdin.read(), sys.flags, sys.excepthook)
    print(pickle.loads(pickle.dumps(Kept())) == Kept(), Kept.__module__)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(doubled, [1, 2]))
    assert sys.modules["__main__"].Kept is Kept
    os.chdir("/")
"""


RELATIVE = ABOUT.replace("from helper", "from .helper")


@pytest.mark.parametrize(
    ("files", "command", "main"),
    [
        ({"main.py": ABOUT, "helper.py": "NAME = 1"}, ["main.py"], "main.py"),
        (
            {"src/main.py": ABOUT, "src/helper.py": "NAME = 2", "link.py": ""},
            ["link.py"],
            "src/main.py",
        ),
        (
            {"package/__init__.py": "", "package/main.py": RELATIVE, "package/helper.py": "NAME = 3"},
            ["-m", "package.main"],
            "package/main.py",
        ),
        (
            {
                "package/__init__.py": "",
                "package/__main__.py": RELATIVE[: RELATIVE.index("    with multi")],
                "package/helper.py": "NAME = 4",
            },
            ["-m", "package"],
            "package/__main__.py",
        ),
    ],
    ids=["script", "link", "module", "package"],
)
def test_a_program_sees_what_it_sees_under_python(
    files: dict[str, str], command: list[str], main: str, tmp_path: Path
) -> None:
    write(tmp_path, {**files, main: files[main] + f"    exec({SOUND!r})\n"})
    if command == ["link.py"]:
        (tmp_path / "link.py").unlink()
        (tmp_path / "link.py").symlink_to("src/main.py")
    given = [*command, "--steps", "3", "-m", "--select", "TL101"]
    plain = python(tmp_path, *given, stdin="some text")
    assert plain.returncode == 0, plain.stderr
    ran = run(tmp_path, "--steps", "9", *given, stdin="some text")
    assert (ran.returncode, ran.stdout, ran.stderr) == (CLEAN, plain.stdout, plain.stderr)
    assert ending(tmp_path)["steps"] == 3


FAILS = """\
import contextlib
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)

    def forward(self, x):
        return self.inner(x).softmax(dim=1)


@contextlib.contextmanager
def helped():
    try:
        yield
    except RuntimeError as error:
        raise ValueError("in between") from error


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = F.cross_entropy(net(torch.randn(2, 4)), torch.tensor([0, 1]))
optimizer.zero_grad()
loss.backward()
optimizer.step()
for wrong in (lambda: torch.ones(2) @ torch.ones(3), lambda: F.mse_loss(torch.ones(2), torch.ones(3))):
    try:
        wrong()
    except RuntimeError:
        print("caught")
with helped():
    F.cross_entropy(net(torch.randn(2, 5)), torch.tensor([0, 1]))
"""


def test_the_programs_own_traceback_and_what_was_seen_before(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": FAILS})
    plain = python(tmp_path, "train.py")
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, ran.stdout, ran.stderr) == (PROGRAM_FAILED, plain.stdout, plain.stderr)
    assert "ValueError: in between" in ran.stderr
    assert ("TL101", 13, "confirmed") in found(tmp_path)
    assert ending(tmp_path)["how"] == "failed"
    assert ending(tmp_path)["at"]["line"] == 21


def closing_line(folder: Path, program: str) -> str:
    write(folder, {"train.py": program})
    run(folder, "--output-format", "text", "train.py")
    return (folder / "report.json").read_text().splitlines()[-1]


def test_the_last_line_says_how_far_the_program_came(tmp_path: Path) -> None:
    assert closing_line(tmp_path, "import torch\n1 / 0\n").startswith("Nothing could be judged: ")
    assert closing_line(tmp_path, f"{FAILS.partition('for wrong')[0]}1 / 0\n").endswith(
        "in 1 file, up to where the program ended (1 confirmed)."
    )


QUICK: dict[str, tuple[str, int, str]] = {
    "raises": ("import json\ndef f():\n    1 / 0\nf()", PROGRAM_FAILED, "failed before it imported torch"),
    "import": ("import no_such_module", PROGRAM_FAILED, "No module named 'no_such_module'"),
    "syntax": ("def (:\n", FAILED, "train.py cannot be compiled"),
    "nul": ("x = 1\0\n", FAILED, "train.py cannot be compiled"),
    "empty": ("", FAILED, "ended before it imported torch"),
    "no torch": ("import numpy\nprint(1)", FAILED, "ended before it imported torch"),
    "only looks": (
        "import importlib.util as u\nassert u.find_spec('torch')",
        FAILED,
        "before it imported torch",
    ),
    "leaves": ("import sys\nsys.exit(0)", FAILED, "ended before it imported torch"),
    "leaves badly": ("import sys\nsys.exit(5)", PROGRAM_FAILED, "SystemExit: 5"),
    "says why": ("import sys\nsys.exit('no data')", PROGRAM_FAILED, "SystemExit: no data"),
    "at once": ("import os\nprint(1, flush=True)\nos._exit(0)", FAILED, "ended before it imported torch"),
    "at once badly": ("import os\nos._exit(4)", PROGRAM_FAILED, "ended before it imported torch"),
    "is killed": ("import os\nos.kill(os.getpid(), 9)", PROGRAM_FAILED, "killed by SIGKILL"),
    "others": ("import subprocess as s\ns.run(['true'])", FAILED, "though it started another process"),
    "own hook": (
        "import sys\nsys.excepthook = lambda *_: print('mine', file=sys.stderr)\n1 / 0",
        PROGRAM_FAILED,
        "ZeroDivisionError",
    ),
    "broken hook": ("import sys\nsys.excepthook = lambda *_: 1 / 0\n[][1]", PROGRAM_FAILED, "IndexError"),
    "group": (
        "import sys\nif sys.version_info >= (3, 11):\n    raise ExceptionGroup('all', [ValueError(1)])\n1 / 0",
        PROGRAM_FAILED,
        "before it imported torch",
    ),
}


@pytest.mark.parametrize("name", QUICK)
def test_programs_that_end_before_torch_is_there(name: str, tmp_path: Path) -> None:
    text, code, said = QUICK[name]
    write(tmp_path, {"train.py": text})
    plain = python(tmp_path, "train.py")
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, ran.stdout) == (code, plain.stdout), ran.stderr
    *own, last = ran.stderr.splitlines()
    if name not in ("broken hook", "nul"):
        assert own == plain.stderr.splitlines()
    assert "trainlint" not in "".join(own)
    assert last.startswith("error: ") and last.endswith("there is nothing to report")
    assert said in last


def test_what_cannot_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"train.py": "print(1)", "folder/a.py": "", "package/__init__.py": "import nothing_here"})
    for arguments, said in [
        (["--trace", "missing.py"], "missing.py does not exist"),
        (["--trace", "train.ipynb"], "train.ipynb is a notebook"),
        (["--trace", "folder"], "folder is a folder"),
        (["--trace"], "give a script"),
        ([], "give a script"),
        (["--trace", "--no-such-option", "train.py"], "--no-such-option"),
        (["--trace", "--steps", "0", "train.py"], "--steps"),
        (["--trace", "--save-trace", "nowhere/kept.trace", "train.py"], "there is no folder"),
        (["--trace", "--save-trace", "folder", "train.py"], "it is a folder"),
        (["--trace", "--output-file", "nowhere/report", "train.py"], "there is no folder"),
        (["--from-trace", "kept.trace", "train.py"], "cannot be combined with a program"),
        (["--trace", "--select", "TL9999", "train.py"], "TL9999"),
    ]:
        ran = CliRunner().invoke(app, ["run", *arguments])
        assert ran.exit_code == FAILED, (arguments, ran.output)
        assert said in ran.stderr, (arguments, ran.stderr)
        assert "1\n" not in ran.stdout
    for module, said in [
        ("no_such_module", "no module named `no_such_module`"),
        ("folder.nothing", "no module named"),
        ("package", "No module named 'nothing_here'"),
        ("package.train", "No module named 'nothing_here'"),
    ]:
        other = run(tmp_path, "-m", module)
        assert (other.returncode, other.stdout) == (FAILED, "")
        assert said in other.stderr and other.stderr.count("\n") == 1, other.stderr


def test_whose_arguments_they_are() -> None:
    assert divided(["-m", "a", "--x"], set()) == ["-m", "a", "--", "--x"]
    assert divided(["-ma", "--x"], set()) == ["-ma", "--", "--x"]
    assert divided(["--out", "-m", "-m", "a", "-m"], {"--out"}) == ["--out", "-m", "-m", "a", "--", "-m"]
    assert divided(["--out=x", "s.py", "-m", "a"], {"--out"}) == ["--out=x", "s.py", "-m", "a"]
    assert divided(["--", "-m", "a"], set()) == ["--", "-m", "a"]
