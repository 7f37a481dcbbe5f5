"""`check --fix`, `--unsafe-fixes` and `--diff`: which files are written, and how; what is said."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.fixing import Check, Ran, fixed
from tests.warm import executable
from trainlint.cli import fix_report
from trainlint.cli.app import app
from trainlint.finding import Finding, Problem
from trainlint.fix import Proposal, Rewrite, safe
from trainlint.fixing import proposals
from trainlint.fixing.rounds import FixedFile

OLD = """import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x = torch.autograd.Variable(torch.ones(2, 4), volatile=True)
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
"""
NEW = OLD.replace("torch.autograd.Variable(torch.ones(2, 4), volatile=True)", "torch.ones(2, 4)")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(OLD.encode(), NEW.encode(), id="plain"),
        pytest.param(OLD.replace("\n", "\r\n").encode(), NEW.replace("\n", "\r\n").encode(), id="crlf"),
        pytest.param(OLD.replace("\n", "\r").encode(), NEW.replace("\n", "\r").encode(), id="cr"),
        pytest.param(OLD.encode("utf-8-sig"), NEW.encode("utf-8-sig"), id="byte-order-mark"),
        pytest.param(
            f"# coding: latin-1\n# é\n{OLD}".encode("latin-1"),
            f"# coding: latin-1\n# é\n{NEW}".encode("latin-1"),
            id="cookie",
        ),
        pytest.param(OLD.rstrip("\n").encode(), NEW.rstrip("\n").encode(), id="no-last-newline"),
        pytest.param(f"s = '€ 🙂'; {OLD}".encode(), f"s = '€ 🙂'; {NEW}".encode(), id="wide"),
        pytest.param(f"\f\n{OLD}".encode(), f"\f\n{NEW}".encode(), id="form-feed"),
        pytest.param(OLD.replace("    ", "\t").encode(), NEW.replace("    ", "\t").encode(), id="tabs"),
    ],
)
def test_bytes_around_a_fix_stay(check: Check, before: bytes, after: bytes) -> None:
    file = Path("train.py")
    file.write_bytes(before)
    assert check("train.py").code == 1
    assert check("--fix", "train.py").code == 0
    assert file.read_bytes() == after


MANY = """import torch
from torch.cuda.amp import autocast

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best = None
for x in torch.ones(3, 4):
    best = model.state_dict()
    x = torch.autograd.Variable(x, volatile=True)
    with autocast(
        enabled=False,  # not now
    ):
        loss = model(x).mean()
    loss.backward()
    optimizer.step()

model.load_state_dict(best)
model.eval()
for x in torch.ones(3, 4):
    print(model(x))
"""
FORMS: dict[str, Callable[[str], bytes]] = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "cr": lambda text: text.replace("\n", "\r").encode(),
    "byte-order-mark": lambda text: text.encode("utf-8-sig"),
    "latin-1": lambda text: f"# coding: latin-1\n# é\n{text}".encode("latin-1"),
    "no-last-newline": lambda text: text.removesuffix("\n").encode(),
    "tabs": lambda text: text.replace("    ", "\t").encode(),
    "two-spaces": lambda text: text.replace("    ", "  ").encode(),
    "form-feeds": lambda text: text.replace("model.eval", "\f\nmodel.eval").encode(),
    "tabs-and-crlf": lambda text: text.replace("    ", "\t").replace("\n", "\r\n").encode("utf-8-sig"),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_put_in_has_the_form_of_its_file(check: Check, form: str) -> None:
    file = Path("train.py")
    file.write_text(MANY)
    check("--fix", "--unsafe-fixes", "train.py")
    after = file.read_text()
    assert after.startswith("import copy\n\nimport torch\n")
    for part in (
        'with torch.amp.autocast(\n        "cuda",\n        enabled=False,  # not now\n    ):\n',
        "    optimizer.step()\n    optimizer.zero_grad()\n\n",
        "    best = copy.deepcopy(model.state_dict())\n",
        "\nwith torch.no_grad():\n    for x in torch.ones(3, 4):\n        print(model(x))\n",
    ):
        assert part in after
    assert "x = x" not in after
    file.write_bytes(FORMS[form](MANY))
    check("--fix", "--unsafe-fixes", "train.py")
    assert file.read_bytes() == FORMS[form](after)


def test_mode_and_links_stay(check: Check) -> None:
    target = Path("src/target.py")
    target.parent.mkdir()
    target.write_text(OLD)
    target.chmod(0o750)
    if os.geteuid() == 0:
        os.chown(target, 1234, 4321)
    owner = target.stat().st_uid, target.stat().st_gid
    Path("link.py").symlink_to(target)
    assert check("--fix", "link.py").code == 0
    assert Path("link.py").is_symlink()
    assert target.read_text() == NEW
    assert stat.S_IMODE(target.stat().st_mode) == 0o750
    assert (target.stat().st_uid, target.stat().st_gid) == owner
    assert os.listdir("src") == ["target.py"], "nothing is left behind"


def test_a_file_with_two_names_is_fixed_once(check: Check) -> None:
    Path("train.py").write_text(OLD)
    Path("link.py").symlink_to("train.py")
    ran = check("--fix", ".")
    assert (ran.code, ran.stderr, Path("train.py").read_text()) == (0, "", NEW)


def _trainlint(*arguments: str, python: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*python, "-m", "trainlint", "check", "--no-cache", "--fix", *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits there")
def test_where_there_is_no_room_files_stay_and_are_reported_as_they_are(check: Check) -> None:
    import resource

    for name in ("a.py", "b.py"):
        Path(name).write_text(OLD)
    Path("c.py").write_text(
        "import torch\ntorch.autograd.Variable(torch.ones(1), volatile=True).backward()\n"
    )

    def no_more_than_a_few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))

    ran = _trainlint(".", python=[sys.executable], preexec_fn=no_more_than_a_few_bytes)
    out, err = ran.communicate()
    assert ran.returncode == 1
    assert [line.partition(": ")[2] for line in err.splitlines()] == [
        f"{name}: is not fixed: cannot be written: File too large" for name in ("a.py", "b.py")
    ]
    assert all(
        said in out
        for said in (
            "Fixed 1 finding:\n  c.py: 1 TL209\n",
            " a.py:6:9\n",
            " b.py:6:9\n",
            "Found 2 warnings in 3",
        )
    )
    assert sorted(os.listdir()) == ["a.py", "b.py", "c.py"]
    assert [Path(name).read_text() for name in ("a.py", "b.py")] == [OLD, OLD]
    assert "Variable" not in Path("c.py").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent another way there")
def test_ctrl_c_leaves_every_file_whole(check: Check) -> None:
    names = [f"f{number:02}.py" for number in range(60)]
    for name in names:
        Path(name).write_text(OLD)
    ran = _trainlint("--jobs", "1", ".", python=executable())
    while Path(names[0]).read_text() == OLD and ran.poll() is None:
        pass
    ran.send_signal(signal.SIGINT)
    out, err = ran.communicate()
    assert "Traceback" not in out + err
    assert sorted(os.listdir()) == names
    assert {Path(name).read_text() for name in names} <= {OLD, NEW}


def test_a_file_that_is_read_only_is_left_and_the_others_are_fixed(check: Check) -> None:
    for name in ("a.py", "b.py"):
        Path(name).write_text(OLD)
    Path("a.py").chmod(0o444)
    ran = check("--fix", "a.py", "b.py")
    assert ran.code == 1
    assert "a.py: is not fixed: it is read-only" in ran.stderr
    assert (Path("a.py").read_text(), Path("b.py").read_text()) == (OLD, NEW)


def test_ignored_and_unselected_findings_are_not_fixed(check: Check) -> None:
    text = OLD.replace("True)\n", "True)  # trainlint: ignore[TL209]\n")
    assert fixed(check, text) == text
    assert fixed(check, OLD, "--ignore", "TL209") == OLD
    Path("trainlint.toml").write_text('per-file-ignores = {"train.py" = ["TL209"]}\n')
    assert fixed(check, OLD) == OLD


def test_diff_writes_nothing_and_can_be_applied(check: Check, tmp_path: Path) -> None:
    Path("train.py").write_bytes(OLD.replace("\n", "\r\n").rstrip().encode())
    ran = check("--diff", "train.py")
    assert ran.code == 1
    assert ran.stderr == "Would fix 1 in 1 file.\n"
    assert Path("train.py").read_bytes() == OLD.replace("\n", "\r\n").rstrip().encode()
    subprocess.run(["git", "apply", "-p0"], input=ran.stdout, check=True)
    assert Path("train.py").read_bytes() == NEW.replace("\n", "\r\n").rstrip().encode()
    assert check("--diff", "train.py") == Ran(0, b"", "Nothing would be fixed.\n")


def test_standard_input_is_fixed_to_standard_output(check: Check) -> None:
    ran = check("--fix", "-", stdin=OLD.replace("\n", "\r\n").encode())
    assert ran.stdout == NEW.replace("\n", "\r\n").encode()
    assert ran.code == 0
    assert "Fixed 1 finding:\n  <stdin>: 1 TL209\n" in ran.stderr
    clean = check("--fix", "-", "--quiet", stdin=b"x = 1\n")
    assert clean == Ran(0, b"x = 1\n", "")
    broken = check("--fix", "-", stdin=b"def (\n")
    assert (broken.code, broken.stdout) == (2, b"def (\n")


UNSAFE = """import torch

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.ones(1, 1)).sum().backward()
    optimizer.step()
"""


def test_unsafe_fixes_are_asked_for(check: Check) -> None:
    assert fixed(check, UNSAFE) == UNSAFE
    assert fixed(check, UNSAFE, "--unsafe-fixes") == UNSAFE.replace(
        "step()\n", "step()\n    optimizer.zero_grad()\n"
    )


def test_unsafe_fixes_alone_are_refused(check: Check) -> None:
    Path("a.py").write_text(UNSAFE)
    said = "error: --unsafe-fixes needs --fix or --diff\n"
    assert check("--unsafe-fixes", "a.py") == Ran(2, b"", said)


def test_one_line_for_each_finding_leaves_what_was_fixed_to_standard_error(check: Check) -> None:
    Path("a.py").write_text(OLD)
    ran = check("--fix", "--output-format", "concise", "a.py")
    assert ran == Ran(0, b"", "Fixed 1 finding:\n  a.py: 1 TL209\n")


def test_text_says_what_can_be_fixed(check: Check) -> None:
    Path("a.py").write_text(OLD)
    Path("b.py").write_text(UNSAFE)
    said = check("a.py", "b.py").stdout.decode()
    assert said.endswith("1 can be fixed with --fix, 1 more with --fix --unsafe-fixes.\n")
    left = check("--fix", "a.py", "b.py")
    assert left.code == 1
    assert left.stdout.decode().endswith(
        "Fixed 1 finding:\n  a.py: 1 TL209\nFound 1 error in 2 files.\n1 can be fixed with --fix --unsafe-fixes.\n"
    )


def test_json_holds_edits_that_can_be_applied(check: Check) -> None:
    Path("train.py").write_text(OLD)
    (found,) = check("--output-format", "json", "train.py").findings
    assert found["fix"]["applicability"] == "safe"
    lines = OLD.splitlines(keepends=True)
    (edit,) = found["fix"]["edits"]
    assert edit["path"] == "train.py" and edit["line"] == edit["end_line"]
    line = lines[edit["line"] - 1]
    lines[edit["line"] - 1] = (
        line[: edit["column"] - 1] + edit["replacement"] + line[edit["end_column"] - 1 :]
    )
    assert "".join(lines) == NEW


def test_only_files_that_are_checked_are_fixed(check: Check) -> None:
    Path("nets.py").write_text(OLD)
    Path("train.py").write_text(f"import nets\n{OLD}")
    check("--fix", "train.py")
    assert Path("nets.py").read_text() == OLD
    assert Path("train.py").read_text() == f"import nets\n{NEW}"


def test_a_file_that_cannot_be_parsed_is_left(check: Check) -> None:
    Path("train.py").write_text(f"{OLD}\ndef (\n")
    ran = check("--fix", "train.py")
    assert ran.code == 2 and "syntax error" in ran.stderr
    assert Path("train.py").read_text() == f"{OLD}\ndef (\n"


def test_changed_only_fixes_changed_lines(check: Check) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@t")
        subprocess.run(["git", *who, *arguments], check=True, capture_output=True)

    file = Path("train.py")
    file.write_text(OLD)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    new = (
        "torch.autograd.Variable(torch.autograd.Variable(torch.ones(1, 4), volatile=True) + 1, volatile=True)"
    )
    file.write_text(OLD + f"model({new}).sum().backward()\n")
    assert b"-model(" in check("--changed-only", "--diff", "train.py").stdout
    ran = check("--changed-only", "--fix", "train.py")
    assert (ran.code, file.read_text()) == (0, OLD + "model(torch.ones(1, 4) + 1).sum().backward()\n")
    assert ran.stdout.startswith(
        b"Fixed 2 findings:\n  train.py: 2 TL209\nFound nothing in 1 file (1 on unchanged lines)"
    )


def _fixing_by(monkeypatch: pytest.MonkeyPatch, template: str) -> None:
    """Have every `Variable(x, volatile=True)` become what a bad rule says."""

    def fix(finding: Finding) -> Iterator[Proposal]:
        yield safe("Do it wrong", Rewrite(finding.at, (("_old(_x, volatile=_v)", template),)))

    monkeypatch.setattr(proposals, "proposer", {"TL209": fix}.get)


def test_a_fix_that_would_break_the_file_is_not_made(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    _fixing_by(monkeypatch, "await _x")
    Path("train.py").write_text(OLD)
    ran = CliRunner().invoke(app, ["check", "--no-cache", "--fix", "train.py"])
    assert ran.exit_code == 1
    assert "train.py: is not fixed: the fixes of TL209 would make it invalid Python" in ran.stderr
    assert Path("train.py").read_text() == OLD
    assert "TL209" in ran.stdout, "what is not fixed is still found"


def test_fixes_that_never_end_are_not_made(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    _fixing_by(monkeypatch, "torch.autograd.Variable(_x + 0, volatile=_v)")
    Path("train.py").write_text(OLD)
    ran = check("--fix", "train.py")
    assert "still fixes to apply after 30 passes" in ran.stderr
    assert Path("train.py").read_text() == OLD
    told, plain = (one.stdout.partition(b"\n\n")[0] for one in (ran, check("train.py")))
    assert told == plain, "what is reported is the file as it is"


def test_a_file_that_changes_meanwhile_is_left(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path("train.py")
    file.write_text(OLD)
    write = fix_report.written

    def late(files: Mapping[str, FixedFile]) -> list[Problem]:
        file.write_text("x = 1\n")
        return write(files)

    monkeypatch.setattr(fix_report, "written", late)
    ran = check("--fix", "train.py")
    assert "train.py: is not fixed: it was changed by another program meanwhile" in ran.stderr
    assert ran.code == 2
    assert file.read_text() == "x = 1\n"


def test_check_without_fix_imports_no_libcst_for_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OLD)
    command = [sys.executable, "-X", "importtime", "-m", "trainlint", "check", "train.py"]
    for _ in range(2):  # the second answer comes from the cache
        ran = subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.getcwd()},
            check=False,
        )
    assert "1 can be fixed with --fix." in ran.stdout
    assert "libcst" not in ran.stderr


def test_json_takes_no_file_apart_in_which_nothing_is_proposed(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("old.py").write_text("import torch\n\nx = torch.autograd.Variable(torch.ones(2), volatile=True)\n")
    monkeypatch.setattr(proposals, "_worked_out", lambda path, raw, found: pytest.fail(path))
    monkeypatch.setattr(proposals, "proposer", lambda code: lambda finding: iter(()))
    [found] = json.loads(check("--output-format", "json").stdout)["findings"]
    assert (found["code"], found["fix"]) == ("TL209", None)
