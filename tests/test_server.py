"""`trainlint server`: what it shows, driven by a real client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.editor import PATIENCE, ROOT, SERVER, Editor, editor
from tests.warm import executable

if TYPE_CHECKING:
    from tests.conftest import Project

pytestmark = pytest.mark.asyncio

LOOP = """\
import torch
from torch import nn

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    nn.MSELoss()(model(x), y).backward()
    optimizer.step()
"""
CLEARED = LOOP.replace("    nn.MSELoss", "    optimizer.zero_grad()\n    nn.MSELoss")


@pytest.fixture
def first_look(tmp_path: Path) -> Path:
    """The program of the README: a softmax in a module, a loss in another, a loop in a third."""
    return Path(shutil.copytree(ROOT / "fixtures/first_look", tmp_path / "first_look"))


def covered(editing: Editor, name: str, found: types.Diagnostic) -> str:
    """The text that a diagnostic of one line marks, as a client that counts in UTF-16 finds it."""
    line = editing.text(name).splitlines()[found.range.start.line].encode("utf-16-le")
    return line[2 * found.range.start.character : 2 * found.range.end.character].decode("utf-16-le")


async def test_a_finding_has_its_place_its_code_and_the_places_that_show_why(first_look: Path) -> None:
    async with editor(first_look) as editing:
        editing.open("models/net.py")  # nothing else is open: who uses it is found on disk
        (found,) = await editing.shows("models/net.py", "TL101")
        assert covered(editing, "models/net.py", found) == "torch.softmax(scores, dim=-1)"
        assert found.severity == types.DiagnosticSeverity.Error
        assert found.source == "trainlint"
        assert "softmax" in found.message
        assert found.code_description is not None
        where = found.code_description.href
        page = Path(where.removeprefix("file://"))
        assert where.endswith("/rules/tl101/") or page.read_text().startswith("# TL101")
        assert found.related_information
        for reason in found.related_information:
            path = Path(reason.location.uri.removeprefix("file://"))
            assert path.parent == first_look and path.is_file()
            assert reason.message


async def test_unsaved_text_counts_in_other_files(first_look: Path) -> None:
    async with editor(first_look) as editing:
        editing.open("models/net.py")
        editing.open("losses.py")
        editing.open("train.py")
        await editing.shows("models/net.py", "TL101")
        await editing.shows("train.py", "TL301")
        editing.write("losses.py", editing.text("losses.py").replace("CrossEntropyLoss", "MSELoss"))
        await editing.shows("models/net.py")
        text = editing.text("train.py")
        editing.write("train.py", text.replace("loss.backward()", "optimizer.zero_grad(); loss.backward()"))
        await editing.shows("train.py")
        editing.write("train.py", text)
        await editing.shows("train.py", "TL301")
        editing.close("losses.py")  # what is on disk counts again
        await editing.shows("models/net.py", "TL101")


async def test_a_module_that_is_not_open_shows_what_has_to_do_with_open_files(first_look: Path) -> None:
    async with editor(first_look) as editing:
        editing.open("train.py")
        await editing.shows("models/net.py", "TL101")
        editing.close("train.py")
        await editing.shows("models/net.py")


async def test_a_module_changed_on_disk(first_look: Path) -> None:
    async with editor(first_look) as editing:
        editing.open("train.py")
        await editing.shows("models/net.py", "TL101")
        net = first_look / "models/net.py"
        net.write_text(net.read_text().replace("torch.softmax(scores, dim=-1)", "scores"))
        editing.changed_on_disk("models/net.py")
        await editing.shows("models/net.py")


async def test_a_new_importer_is_found_when_it_is_saved(project: Project) -> None:
    net = "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
    folder = project({"net.py": f"{net}        return torch.softmax(x, -1)\n"})
    train = "from torch import nn\nfrom net import Net\n\ndef f(x, y):\n    return nn.CrossEntropyLoss()(Net()(x), y)\n"
    async with editor(folder) as editing:
        editing.open("net.py")
        await editing.shows("net.py")
        (folder / "train.py").write_text(train)
        editing.changed_on_disk("train.py")
        await editing.shows("net.py", "TL101")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_in_the_units_of_the_client(project: Project, encoding: str) -> None:
    text = LOOP.replace("    optimizer.step()", "    '🦙é'; optimizer.step()")
    folder = project({"train.py": text})
    async with editor(folder, encoding=encoding) as editing:
        editing.open("train.py")
        (found,) = await editing.shows("train.py", "TL301")
        line = text.splitlines()[found.range.start.line].encode(f"{encoding}-le".replace("8-le", "8"))
        width = int(encoding[-2:].lstrip("-")) // 8
        marked = line[width * found.range.start.character : width * found.range.end.character]
        assert marked.decode(f"{encoding}-le".replace("8-le", "8")) == "optimizer.step()"


@pytest.mark.parametrize(
    "text",
    [
        LOOP.replace("\n", "\r\n"),
        LOOP.replace("\n", "\r"),
        LOOP.replace("\n\n", "\n\f\n"),
        LOOP.replace("\n\n", "\n# \u2028 \x85 \x0b\n"),
    ],
)
async def test_line_ends(project: Project, text: str) -> None:
    async with editor(project({})) as editing:
        editing.open("train.py", text)
        (found,) = await editing.shows("train.py", "TL301")
        line = re.split("\r\n|\r|\n", text)[found.range.start.line]
        assert line[found.range.start.character : found.range.end.character] == "optimizer.step()"


async def test_a_declared_encoding(project: Project) -> None:
    folder = project({})
    (folder / "train.py").write_bytes(f"# coding: latin-1\nname = 'é'\n{LOOP}".encode("latin-1"))
    async with editor(folder) as editing:
        editing.open("train.py", f"# coding: latin-1\nname = 'é €'\n{LOOP}")  # € is not in latin-1
        (found,) = await editing.shows("train.py", "TL301")
        assert covered(editing, "train.py", found) == "optimizer.step()"
        editing.write("train.py", f"# coding: no-such\n{LOOP}")
        (error, _) = await editing.until("train.py", lambda found: len(found) == 2)
        assert "no-such" in error.message and error.range.start.line == 0


async def test_a_syntax_error_is_shown_and_the_rest_stays_at_its_place(first_look: Path) -> None:
    async with editor(first_look) as editing:
        editing.open("train.py")
        editing.open("models/net.py")
        (before,) = await editing.shows("train.py", "TL301")
        marked = covered(editing, "train.py", before)
        await editing.shows("models/net.py", "TL101")
        text = editing.text("train.py")
        editing.write("train.py", text.replace("def main", "\nx = (\ndef main"))
        error, after = await editing.until("train.py", lambda found: len(found) == 2)
        assert error.code is None and "syntax error" in error.message
        assert error.range.start.line in range(12, 16)
        assert after.code == "TL301" and after.message == before.message
        assert after.range.start.line == before.range.start.line + 2
        assert covered(editing, "train.py", after) == marked
        await editing.shows("models/net.py", "TL101")
        editing.write("train.py", text)
        await editing.shows("train.py", "TL301")


async def test_only_the_last_of_many_keystrokes_matters(project: Project) -> None:
    folder = project({"train.py": LOOP})
    async with editor(folder) as editing:
        editing.open("train.py")
        for number in range(50):
            editing.write("train.py", f"{LOOP if number % 2 else CLEARED}x = {number}\n")
        await editing.shows("train.py", "TL301")
        editing.write("train.py", CLEARED)
        await editing.shows("train.py")


async def test_hover_shows_the_page_of_the_rule(project: Project) -> None:
    async with editor(project({"train.py": LOOP})) as editing:
        editing.open("train.py")
        (found,) = await editing.shows("train.py", "TL301")
        hover = await editing.hover("train.py", found.range.start)
        assert hover is not None and hover.range == found.range
        assert isinstance(hover.contents, types.MarkupContent)
        assert hover.contents.kind is types.MarkupKind.Markdown
        assert hover.contents.value.startswith("# TL301 missing-zero-grad")
        assert await editing.hover("train.py", types.Position(0, 0)) is None


@pytest.mark.parametrize(
    "settings",
    [
        'ignore = ["TL301"]',
        'select = ["TL1"]',
        'per-file-ignores = {"train.py" = ["TL301"]}',
        'exclude = ["train.py"]',
    ],
)
async def test_the_configuration_counts_and_is_read_again(project: Project, settings: str) -> None:
    folder = project({"train.py": LOOP, "trainlint.toml": settings})
    async with editor(folder) as editing:
        editing.open("train.py")
        await editing.shows("train.py")
        (folder / "trainlint.toml").write_text("")
        editing.changed_on_disk("trainlint.toml")
        await editing.shows("train.py", "TL301")
        (folder / "trainlint.toml").write_text(settings)
        editing.write("train.py", f"{LOOP}\n")  # clients that watch no files change something now and then
        await editing.shows("train.py")


async def test_a_wrong_configuration_is_said_and_the_last_one_stays(project: Project) -> None:
    folder = project({"train.py": LOOP, "trainlint.toml": 'ignore = ["TL301"]'})
    async with editor(folder) as editing:
        editing.open("train.py")
        await editing.shows("train.py")
        (folder / "trainlint.toml").write_text("ignroe = 1")
        editing.changed_on_disk("trainlint.toml")
        editing.write("train.py", f"{LOOP}\n")
        await editing.shows("train.py")
        (said,) = editing.told
        assert "trainlint.toml: `ignroe` is not a setting" in said and "`ignore`" in said


async def test_a_baseline_counts_and_is_read_again(project: Project) -> None:
    folder = project({"train.py": LOOP, "trainlint.toml": 'baseline = "known.json"'})
    command = [*executable(), "-m", "trainlint", "check", "--no-cache", "--write-baseline"]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    known = (folder / "known.json").read_text()
    async with editor(folder) as editing:
        editing.open("train.py", f"\n\n{LOOP}")
        await editing.shows("train.py")
        (folder / "known.json").write_text(json.dumps({**json.loads(known), "findings": []}))
        editing.changed_on_disk("known.json")
        await editing.shows("train.py", "TL301")


async def test_folders_have_their_own_configuration_and_their_own_modules(project: Project) -> None:
    net = "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
    train = "from torch import nn\nfrom net import Net\n\ndef f(x, y):\n    return nn.CrossEntropyLoss()(Net()(x), y)\n"
    root = project(
        {
            "one/net.py": f"{net}        return torch.softmax(x, -1)\n",
            "one/train.py": train,
            "two/net.py": f"{net}        return x\n",
            "two/train.py": train + LOOP,
            "two/trainlint.toml": 'ignore = ["TL301"]',
            "alone.py": LOOP,
        }
    )
    async with editor(root / "one", root / "two") as editing:
        for name in ("../two/train.py", "net.py", "../two/net.py"):
            editing.open((root / "one" / name).resolve().as_uri(), (root / "one" / name).read_text())
        alone = (root / "alone.py").as_uri()
        editing.open(alone, LOOP)  # in no folder
        await editing.shows("net.py", "TL101")
        await editing.shows((root / "two/net.py").as_uri())
        await editing.shows((root / "two/train.py").as_uri())
        await editing.shows(alone, "TL301")


async def test_without_a_folder(project: Project) -> None:
    folder = project({"net.py": "import torch\n", "train.py": LOOP})
    async with editor() as editing:
        uri = (folder / "train.py").as_uri()
        editing.open(uri, LOOP)
        editing.open("untitled:Untitled-1", LOOP)
        await editing.shows(uri, "TL301")
        await editing.shows("untitled:Untitled-1", "TL301")
        editing.write(uri, CLEARED)
        await editing.shows(uri)


async def test_a_file_that_is_renamed(first_look: Path) -> None:
    async with editor(first_look) as editing:
        editing.open("train.py")
        editing.open("models/net.py")
        await editing.shows("models/net.py", "TL101")
        (first_look / "models/net.py").rename(first_look / "models/nët 2.py")
        editing.close("models/net.py")
        editing.open("models/nët 2.py")
        await editing.shows("models/nët 2.py")  # nothing imports it
        await editing.shows_at_last("models/net.py")
        (first_look / "models/nët 2.py").rename(first_look / "models/net.py")
        editing.close("models/nët 2.py")
        editing.open("models/net.py")
        await editing.shows("models/net.py", "TL101")


async def test_files_that_are_deleted(first_look: Path) -> None:
    async with editor(first_look) as editing:
        editing.open("train.py")
        editing.open("models/net.py")
        await editing.shows("models/net.py", "TL101")
        (first_look / "models/net.py").unlink()
        editing.changed_on_disk("models/net.py")
        editing.write("train.py", f"{editing.text('train.py')}\n")
        await editing.shows("train.py", "TL301")
        await editing.shows("models/net.py", "TL101")  # what is open is still there
        editing.close("models/net.py")
        await editing.shows_at_last("models/net.py")
        shutil.rmtree(first_look)
        editing.write("train.py", f"{editing.text('train.py')}\n")
        await editing.shows("train.py", "TL301")
        editing.write("train.py", CLEARED)
        await editing.shows("train.py")


async def test_folders_that_come_and_go(project: Project) -> None:
    net = "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
    train = "from torch import nn\nfrom net import Net\n\ndef f(x, y):\n    return nn.CrossEntropyLoss()(Net()(x), y)\n"
    folder = project({"net.py": f"{net}        return torch.softmax(x, -1)\n", "train.py": train})
    async with editor() as editing:
        uri = (folder / "net.py").as_uri()
        editing.open(uri, (folder / "net.py").read_text())
        await editing.shows(uri)  # nobody looks for who imports it
        there = [types.WorkspaceFolder(folder.as_uri(), "there")]
        for added, removed, codes in ((there, [], ["TL101"]), ([], there, [])):
            event = types.WorkspaceFoldersChangeEvent(added, removed)
            editing.client.workspace_did_change_workspace_folders(
                types.DidChangeWorkspaceFoldersParams(event)
            )
            await editing.shows(uri, *codes)


async def test_what_is_no_file(project: Project) -> None:
    async with editor(project({"trainlint.toml": ""})) as editing:
        editing.open("git:/train.py?HEAD", LOOP)
        editing.open("notes.toml", LOOP, language="toml")
        editing.open("untitled:Untitled-1", LOOP)
        await editing.shows("untitled:Untitled-1", "TL301")
        assert not editing.has_been_told("git:/train.py?HEAD")
        assert not editing.has_been_told("notes.toml")


async def test_others_code_is_left_alone(project: Project) -> None:
    folder = project(
        {".venv/lib/thing.py": LOOP, ".gitignore": "gone/\n", ".git/HEAD": "", "gone/a.py": LOOP}
    )
    async with editor(folder) as editing:
        for name in (".venv/lib/thing.py", "gone/a.py"):
            editing.open(name)
        editing.open("new.py", LOOP)  # not on disk yet
        await editing.shows("new.py", "TL301")
        await editing.shows(".venv/lib/thing.py")
        await editing.shows("gone/a.py")


async def test_a_rule_that_fails_is_logged_and_the_rest_goes_on(project: Project) -> None:
    failing = (
        "import trainlint.judging as judging; said = judging._said\n"
        "def fail(entry, training):\n"
        "    if entry.code == 'TL101': raise RuntimeError('oh dear')\n"
        "    return said(entry, training)\n"
        "judging._said = fail\n"
        "from trainlint.cli.app import app; app(['server'])\n"
    )
    async with editor(project({"train.py": LOOP}), server=("-c", failing)) as editing:
        editing.open("train.py")
        await editing.shows("train.py", "TL301")
        await editing.logs("rule TL101 failed")
        editing.write("train.py", CLEARED)
        await editing.shows("train.py")


async def test_what_is_printed_is_no_message(project: Project) -> None:
    printing = (
        "print('hello'); import trainlint.server.handlers as h\nfrom trainlint.cli.app import app\n"
        + (
            "begin = h.Session.begin\nh.Session.begin = lambda self: (print('oops'), begin(self))\napp(['server'])"
        )
    )
    async with editor(project({"train.py": LOOP}), server=("-c", printing.partition("; ")[2])) as editing:
        editing.open("train.py")
        await editing.shows("train.py", "TL301")


async def test_the_end_comes_in_the_middle_of_a_check(project: Project) -> None:
    many = "".join(LOOP.replace("model", f"model{n}") for n in range(300))
    async with editor(project({"train.py": LOOP})) as editing:
        editing.open("train.py")
        await editing.shows("train.py", "TL301")
        editing.write("train.py", many)
        await asyncio.sleep(0.1)  # the editor ends it in an orderly way, and waits until that is done


@pytest.mark.parametrize("said", [b"", b'Content-Length: 33\r\n\r\n{"jsonrpc":"2.0","method":"exit"}'])
async def test_it_ends_with_its_client(said: bytes) -> None:
    process = await asyncio.create_subprocess_exec(
        *executable(),
        *SERVER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    out, errors = await asyncio.wait_for(process.communicate(said), PATIENCE)
    assert process.returncode == 1, errors  # it was not asked to
    assert out == b"" and b"Traceback" not in errors


async def test_a_header_that_is_none_costs_no_more_than_its_message() -> None:
    def message(number: int) -> bytes:
        body = b'{"jsonrpc":"2.0","id":%d,"method":"nosuch","params":null}' % number
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    said = (
        b"Content-Length: abc\r\n\r\n{}",
        message(1),
        message(2),
        b"Content-Length: -5\r\n\r\n",
        message(3),
    )
    ran = subprocess.run(
        [*executable(), *SERVER],
        input=b"".join(said),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert all(b'"id": %d' % number in ran.stdout for number in (1, 2, 3))


async def test_a_message_that_no_memory_holds_ends_it_in_words() -> None:
    ran = subprocess.run(
        [*executable(), *SERVER],
        input=b"Content-Length: 99999999999\r\n\r\n{}",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert ran.returncode == 2
    assert ran.stderr.decode().strip() == "error: the client announces a message of 99,999,999,999 bytes"


async def test_without_pygls_it_says_what_is_missing() -> None:
    without = "import sys; sys.modules['pygls'] = None; from trainlint.cli.app import app; app(['server'])"
    ran = subprocess.run(
        [sys.executable, "-c", without],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.decode().strip() == "error: the server needs pygls: pip install 'trainlint[server]'"


async def test_no_other_command_loads_what_the_server_needs(project: Project) -> None:
    folder = project({"train.py": LOOP})
    check = (
        "import sys; from trainlint.cli.app import app; app(['check', '--no-cache', 'train.py'], standalone_mode=False)\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('pygls', 'lsprotocol', 'asyncio')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", check], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.stdout.splitlines()[-1] == "[]", ran
