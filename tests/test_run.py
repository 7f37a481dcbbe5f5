"""`trainlint run --trace` as people use it: the program behaves as under `python`, and each ending has its exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trainlint.cli.app import app
from trainlint.cli.program_arguments import divided

ROOT = Path(__file__).parent.parent
CLEAN, FOUND, FAILED, PROGRAM_FAILED, INTERRUPTED = 0, 1, 2, 3, 130

TRAINS = """\
import torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(model(torch.randn(8, 4)), torch.randint(3, (8,)))
    loss.backward()
    optimizer.step()
    print("step", step)
"""
SOUND = TRAINS.replace(", nn.Softmax(dim=1)", "")

Ran = subprocess.CompletedProcess[str]


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


def python(folder: Path, *arguments: str, stdin: str = "", **variables: str) -> Ran:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run(folder: Path, *arguments: str, stdin: str = "", **variables: str) -> Ran:
    """The real command; what it reports goes to a file, so that the streams hold what the program says."""
    ran = python(folder, *_command(*arguments), stdin=stdin, **variables)
    assert "trainlint itself failed" not in ran.stderr, ran.stderr
    return ran


def _command(*arguments: str) -> list[str]:
    options = ["--no-cache", "--output-format", "json", "--output-file", "report.json"]
    return ["-m", "trainlint", "run", "--trace", *options, *arguments]


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found


def ending(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = report(folder)["run"]["ending"]
    return found


def found(folder: Path) -> list[tuple[str, int, str]]:
    return [(one["code"], one["line"], one["verdict"]) for one in report(folder)["findings"]]


# What is reported


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
    ran = run(tmp_path, "--save-trace", "kept.trace", "train.py")
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


# As under `python`

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


# How a recording ends

STUBBORN = """\
import pathlib
import torch
log = pathlib.Path("log")
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train():
    try:
        try:
            while True:
                optimizer.zero_grad()
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
        except Exception:
            print("an exception")
        except SystemExit:
            print("an exit")
    finally:
        torch.save(model.state_dict(), "saved.pt")
        log.write_text(log.read_text() + "x" if log.exists() else "x")
if STUBBORN:
    while True:
        try:
            train()
        except:
            pass
train()
"""


@pytest.mark.parametrize("stubborn", [False, True])
def test_programs_that_catch_what_they_can_end(stubborn: bool, tmp_path: Path) -> None:
    write(tmp_path, {"train.py": f"STUBBORN = {stubborn}\n{STUBBORN}"})
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, ran.stdout, ran.stderr) == (CLEAN, "", "")
    assert ending(tmp_path)["how"] == "recorded"
    assert not (tmp_path / "saved.pt").exists()
    assert not (tmp_path / "log").exists()
    if not stubborn:  # that one has to be ended at once
        written = [one["path"] for one in report(tmp_path)["run"]["not_written"]]
        assert [Path(one).name for one in written] == ["saved.pt", "log"]


SAVES_AT_THE_END = """\
import atexit, json, os, shutil
import torch
from torch import nn
torch.save({"good": 1}, "best.pt")
with open("metrics.json", "w") as file:
    json.dump({"good": 1}, file)
atexit.register(lambda: torch.save(1, "last.pt"))
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    for step in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(3, (8,))).backward()
        optimizer.step()
finally:
    open("log", "a").write("x")
    torch.save({"two steps": 1}, "next.pt.part")
    os.replace("next.pt.part", "best.pt")
    shutil.copy("metrics.json", "kept.json")
    with open("best.pt", "wb") as file:
        torch.save(0, file)
    with open("metrics.json", "w") as file:
        json.dump({"two steps": 1}, file)
"""


def test_a_program_that_is_ended_writes_over_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": SAVES_AT_THE_END})
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, ran.stderr) == (CLEAN, "")
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"good": 1}
    assert b"good" in (tmp_path / "best.pt").read_bytes()
    assert (tmp_path / "log").read_text() == "x"
    kept = {"train.py", "best.pt", "metrics.json", "log", "report.json"}
    assert {file.name for file in tmp_path.iterdir()} == kept
    written = {one["path"] for one in report(tmp_path)["run"]["not_written"]}
    assert written == {"next.pt.part", "best.pt", "kept.json", "metrics.json", "last.pt"}


def test_a_program_that_ends_by_itself_writes_what_it_wants(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": SAVES_AT_THE_END})
    assert run(tmp_path, "--steps", "9", "train.py").returncode == CLEAN
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"two steps": 1}
    assert (tmp_path / "last.pt").exists()
    assert report(tmp_path)["run"]["not_written"] == []


ENDINGS: dict[str, tuple[list[str], str, int, str, str]] = {
    "no training": (
        [],
        "import torch\nprint(torch.nn.Linear(2, 2)(torch.ones(2)).shape)",
        FAILED,
        "finished",
        "",
    ),
    "trains in another process": (
        [],
        "import subprocess, sys, torch\nsubprocess.run([sys.executable, '-c', 'print(1)'])",
        FAILED,
        "finished",
        "",
    ),
    "never steps": (
        ["--max-steps-wait", "3"],
        "import torch\nw = torch.ones(2, requires_grad=True)\nwhile True:\n    w.sum().backward()\n    w.grad = None",
        FAILED,
        "waited",
        "",
    ),
    "leaves at once": ([], "import os\n" + SOUND + "os._exit(0)", CLEAN, "exited", ""),
    "leaves at once badly": ([], "import os\n" + SOUND + "os._exit(7)", PROGRAM_FAILED, "exited", ""),
    "says what is wrong": ([], SOUND + "raise SystemExit('no')", PROGRAM_FAILED, "failed", "no"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_endings(name: str, tmp_path: Path) -> None:
    options, text, code, how, said = ENDINGS[name]
    write(tmp_path, {"train.py": text})
    ran = run(tmp_path, "--steps", "50", *options, "train.py")
    assert ran.returncode == code, ran.stderr
    assert ending(tmp_path)["how"] == how
    assert said in ran.stderr
    assert ending(tmp_path)["children"] == (1 if "process" in name else 0)
    if SOUND in text:
        assert ending(tmp_path)["steps"] == 3
        assert ran.stdout == "step 0\nstep 1\nstep 2\n"


TWO_PHASES = """\
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
def pretrain(steps=30):
    decoder = nn.Linear(32, 8)
    optimizer = torch.optim.Adam([*body.parameters(), *decoder.parameters()], 1e-3)
    for _ in range(steps):
        x = torch.randn(16, 8)
        loss = F.mse_loss(decoder(body(x)), x)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
def finetune(steps=30):
    head = nn.Linear(32, 4)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], 1e-3)
    for _ in range(steps):
        x = torch.randn(16, 8); y = x[:, :4].argmax(1)
        loss = F.cross_entropy(head(body(x).detach()), y)
        loss.backward(); optimizer.step()
pretrain(); finetune()
"""


@pytest.mark.parametrize("options", [("--phase", "2"), ("--skip-steps", "32")], ids=["phase", "steps"])
def test_a_later_phase(options: tuple[str, str], tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TWO_PHASES})
    assert run(tmp_path, *options, "train.py").returncode == FOUND
    assert ("TL301", 19, "confirmed") in found(tmp_path)
    said = report(tmp_path)["run"]
    assert (said["ending"]["how"], said["ending"]["steps"]) == ("recorded", 1)
    assert {one["name"] for one in said["losses"]} == {"F.cross_entropy", "backward()"}


def test_every_phase_is_recorded(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TWO_PHASES})
    ran = run(tmp_path, "--save-trace", "step.json", "--report", "step.html", "train.py")
    assert ran.returncode == FOUND
    assert found(tmp_path) == [("TL301", 19, "confirmed")]
    first = report(tmp_path)["run"]
    (second,) = first["later"]
    assert [one["ending"]["how"] for one in (first, second)] == ["recorded", "recorded"]
    assert {one["name"] for one in first["losses"]} == {"F.mse_loss", "backward()"}
    assert {one["name"] for one in second["losses"]} == {"F.cross_entropy", "backward()"}
    assert [one["at"]["line"] for one in second["optimizers"]] == [15]
    page = (tmp_path / "step.html").read_text()
    assert "Phase 2: Losses" in page and "F.cross_entropy" in page
    before = report(tmp_path)
    assert run(tmp_path, "--from-trace", "step.json").returncode == FOUND
    after = report(tmp_path)
    assert (after["findings"], after["run"]) == (before["findings"], before["run"])
    text = python(tmp_path, "-m", "trainlint", "run", "--from-trace", "step.json").stdout
    assert "Phase 2: Adam at train.py:15" in text and "phase = 2" in text


TRAINER = """\
import torch
from torch import nn
class Trainer:
    def __init__(self, model):
        self.model = model
    def build(self, name):
        if name == "sgd":
            return torch.optim.SGD(self.model.parameters(), 0.1)
        return torch.optim.Adam(self.model.parameters())
    def fit(self):
        optimizer = self.build("adam")
        for step in range(4):
            print("step", step)
            optimizer.zero_grad()
            self.model(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()
    def tune(self):
        optimizer = torch.optim.RMSprop(self.model.parameters())
        for step in range(4):
            print("tune", step)
            self.model(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()
trainer = Trainer(nn.Linear(4, 4))
with torch.random.fork_rng():
    trainer.fit()
"""


def test_a_phase_is_only_waited_for_where_the_code_ahead_builds_another_optimizer(tmp_path: Path) -> None:
    write(tmp_path, {"one.py": TRAINER, "two.py": TRAINER + "    trainer.tune()\n"})
    one = run(tmp_path, "one.py")
    assert (one.returncode, one.stdout) == (FOUND, "step 0\nstep 1\n")
    assert report(tmp_path)["run"]["later"] == []
    assert found(tmp_path) == [("TL301", 22, "not-reached")]
    two = run(tmp_path, "two.py")
    assert (two.returncode, two.stdout.split("\n")[3:6]) == (FOUND, ["step 3", "tune 0", "tune 1"])
    assert found(tmp_path) == [("TL301", 22, "confirmed")]


ONE_FUNCTION = """\
import torch
from torch import nn
def fit(model, clears):
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(4):
        if clears:
            optimizer.zero_grad()
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
model = nn.Linear(4, 4)
fit(model, True)
"""


def test_a_function_that_is_called_again_is_another_phase(tmp_path: Path) -> None:
    in_a_loop = ONE_FUNCTION.replace("fit(model, True)", "for fold in range(2):\n    fit(model, True)")
    write(tmp_path, {"twice.py": ONE_FUNCTION + "fit(model, False)\n", "folds.py": in_a_loop})
    run(tmp_path, "twice.py")
    assert ("TL301", 9, "confirmed") in found(tmp_path)
    assert len(report(tmp_path)["run"]["later"]) == 1
    run(tmp_path, "folds.py")
    assert report(tmp_path)["run"]["later"] == []


def test_a_phase_that_does_not_come_in_time(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TWO_PHASES})
    assert run(tmp_path, "--phase-seconds", "1e-9", "train.py").returncode == FOUND
    assert found(tmp_path) == [("TL301", 19, "not-reached")]
    assert any(
        "the optimizer that train.py:15 builds did not step" in one
        for one in report(tmp_path)["run"]["not_checked"]
    )


def test_a_program_that_fails_before_its_next_phase(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TWO_PHASES.replace("def finetune(", "def finetune(a, ")})
    assert run(tmp_path, "train.py").returncode == PROGRAM_FAILED
    assert ending(tmp_path)["how"] == "failed"


def test_a_phase_that_does_not_come(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": SOUND})
    run(tmp_path, "--phase", "2", "train.py")
    assert ending(tmp_path)["how"] == "finished"


def test_a_program_that_takes_too_long(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": "import time\nprint('begins', flush=True)\ntime.sleep(100)\nimport torch"})
    ran = run(tmp_path, "--timeout", "2", "train.py")
    assert ran.returncode == FAILED
    assert ran.stderr.splitlines()[-1] == (
        "error: the program was ended by --timeout after 2 s, before anything was recorded"
    )


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_program_that_is_killed_while_it_trains(tmp_path: Path) -> None:
    killed = SOUND.replace("optimizer.step()", "__import__('os').kill(__import__('os').getpid(), 9)")
    write(tmp_path, {"train.py": killed})
    ran = run(tmp_path, "train.py")
    assert ran.returncode == PROGRAM_FAILED
    assert "killed by SIGKILL" in ran.stderr
    assert "waited for the first optimizer step" in ran.stderr


def test_the_thread_that_trains_is_recorded(tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in TRAINS.splitlines())
    text = f"import threading\ndef work():\n{body}\nt = threading.Thread(target=work, name='worker')\n"
    write(tmp_path, {"train.py": "import torch\n" + text + "t.start()\nt.join()\nprint('after')\n"})
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, ran.stdout, ran.stderr) == (FOUND, "step 0\nafter\n", "")
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


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_reports_what_was_seen(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TRAINS + "import time\nprint('ready', flush=True)\ntime.sleep(100)\n"})
    started = subprocess.Popen(
        [sys.executable, *_command("--steps", "50", "train.py")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert started.stdout is not None
    while started.stdout.readline() != "ready\n":
        pass
    os.killpg(started.pid, signal.SIGINT)
    _, stderr = started.communicate(timeout=60)
    assert started.returncode == INTERRUPTED
    assert stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert "trainlint" not in stderr
    assert found(tmp_path) == [("TL101", 3, "confirmed")]
    assert ending(tmp_path)["how"] == "interrupted"


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
