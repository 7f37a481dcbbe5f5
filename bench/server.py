"""How long an editor waits after a keystroke, against `ruff server` on the same keystrokes.

    python bench/server.py [--keystrokes 60] [--pause 0.1] [--size 500]

A training program is made of a file of so many lines that imports two modules. Both servers are started as an editor
does and are driven over standard input and output. A line is typed into the middle of the file, character by
character: each keystroke is one `didChange` with the whole text, and the time runs until `publishDiagnostics` for
that version has been read. Ratios are to the limit of 150 ms, and to ruff.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import libcst as cst
from cattrs import Converter
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.protocol import default_converter

LIMIT = 150
TYPED = "scale = images.float().mean() * logits.detach().abs().max()"
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(256, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.head(self.features(images)), dim=-1)
"""
DATA = """\
import torch
from torch.utils.data import DataLoader, TensorDataset


def digits() -> DataLoader:
    images, labels = torch.rand(512, 1, 28, 28), torch.randint(0, 10, (512,))
    return DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)
"""
HEAD = """\
import argparse

import torch
from torch import nn

from data import digits
from net import Net

"""
PART = '''
def train_{n}(model: nn.Module, epochs: int, rate: float = 1e-{n}) -> float:
    """Train once more, in way {n}."""
    criterion = nn.CrossEntropyLoss(label_smoothing=0.{n})
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size={n})
    best = float("inf")
    for epoch in range(epochs):
        model.train()
        for step, (images, labels) in enumerate(digits()):
            optimizer.zero_grad()
            logits = model(images)
            loss = criterion(logits, labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if step % 10 == 0:
                print(f"epoch {{epoch}} step {{step}} loss {{loss.item():.3f}}")
        scheduler.step()
        model.eval()
        with torch.no_grad():
            total = sum(criterion(model(images), labels).item() for images, labels in digits())
        best = min(best, total)
    torch.save(model.state_dict(), "way_{n}.pt")
    return best

'''
MAIN = """
def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args()
    model = Net()
{calls}

if __name__ == "__main__":
    main()
"""


def program(size: int) -> str:
    """A file of about so many lines."""
    count = round((size - HEAD.count("\n") - 12) / (PART.count("\n") + 1))
    calls = "".join(f"    train_{n}(model, given.epochs)\n" for n in range(1, count + 1))
    return HEAD + "".join(PART.format(n=n) for n in range(1, count + 1)) + MAIN.format(calls=calls)


def parse(text: str) -> float:
    """Milliseconds that libcst takes for a text: how fast this machine is at the moment."""
    times = []
    for _ in range(20):
        began = time.perf_counter()
        cst.parse_module(text)
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


def keystrokes(text: str, count: int) -> Iterator[str]:
    """The texts that typing makes, in the loop in the middle of the file."""
    lines = text.split("\n")
    places = [number for number, line in enumerate(lines) if "logits = model(images)" in line]
    at = places[len(places) // 2] + 1
    for number in range(count):
        yield "\n".join([*lines[:at], " " * 12 + TYPED[: number % len(TYPED) + 1], *lines[at:]])


def _converter() -> Converter:
    """The client's, that can also read of which notebooks ruff wants to hear."""
    converter = default_converter()
    for kind in (types.NotebookDocumentFilterWithNotebook, types.NotebookDocumentFilterWithCells):
        converter.register_structure_hook(get_type_hints(kind)["notebook"], lambda value, _: value)
    return converter


class Waited(NamedTuple):
    """Milliseconds after each keystroke, and those that the server has computed for one; the latter on Linux alone."""

    wall: list[float]
    cpu: float


def _cpu(process: int) -> float:
    """Milliseconds of processor that a process has used."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


async def waits(command: Sequence[str], folder: Path, texts: Sequence[str], pause: float) -> Waited:
    """Start a server and type."""
    client = LanguageClient("bench", "1", converter_factory=_converter)
    news = asyncio.Condition()
    read: dict[int | None, float] = {}
    listen: Any = client.feature

    async def published(params: types.PublishDiagnosticsParams) -> None:
        async with news:
            if params.uri.endswith("train.py"):
                read.setdefault(params.version, time.perf_counter())
            news.notify_all()

    async def until(version: int) -> float:
        async with news:
            await asyncio.wait_for(news.wait_for(lambda: version in read), 60)
        return read[version]

    listen(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
    listen(types.WINDOW_LOG_MESSAGE)(lambda _: None)
    surroundings = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    await client.start_io(command[0], *command[1:], cwd=folder, env=surroundings)
    root = types.WorkspaceFolder(folder.as_uri(), "bench")
    client_can = types.ClientCapabilities()
    await client.initialize_async(types.InitializeParams(capabilities=client_can, workspace_folders=[root]))
    client.initialized(types.InitializedParams())
    uri = (folder / "train.py").as_uri()
    first = types.TextDocumentItem(uri, "python", 1, (folder / "train.py").read_text())
    client.text_document_did_open(types.DidOpenTextDocumentParams(first))
    await until(1)
    await asyncio.sleep(3)  # an editor has been open for a while
    server: Any = client
    process = server._server.pid
    before = _cpu(process)
    found = []
    for version, text in enumerate(texts, start=2):
        identifier = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        began = time.perf_counter()
        client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        found.append((await until(version) - began) * 1e3)
        await asyncio.sleep(pause)
    cpu = (_cpu(process) - before) / len(texts)
    await client.shutdown_async(None)
    client.exit(None)
    await server._server.wait()
    return Waited(found, cpu)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keystrokes", type=int, default=len(TYPED))
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between keystrokes")
    parser.add_argument("--size", type=int, default=500, help="lines of the file")
    given = parser.parse_args()
    ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    commands = {"trainlint server": [sys.executable, "-m", "trainlint", "server"]}
    if ruff is not None:
        commands["ruff server"] = [ruff, "server"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = program(given.size)
        for file, content in {"train.py": text, "net.py": NET, "data.py": DATA}.items():
            (folder / file).write_text(content)
        texts = list(keystrokes(text, given.keystrokes))
        size = text.count("\n")
        print(
            f"{size} lines, {len(texts)} keystrokes; libcst alone parses the file in {parse(text):.0f} ms here\n"
        )
        print("| | median ms | worst ms | CPU ms | median / 150 ms | worst / 150 ms | load |")
        print("|---|" + "--:|" * 6)
        for title, command in commands.items():
            wall, cpu = asyncio.run(waits(command, folder, texts, given.pause))
            median, worst = statistics.median(wall), max(wall)
            row = f"| {title} | {median:.0f} | {worst:.0f} | {cpu:.0f} | {median / LIMIT:.2f} | {worst / LIMIT:.2f} |"
            print(f"{row} {os.getloadavg()[0]:.1f} on {os.cpu_count()} |")


if __name__ == "__main__":
    main()
