"""Each panel of the report, held against the recording that it was made of, in headless Chromium."""

from __future__ import annotations

import base64
import itertools
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser import Browser, browser, needs_browser
from tests.reported import big_model
from tests.warm import python
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.masks import MaskPicture, MaskSeen
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.raised import Warned
from trainlint.facts.seen.ranks import Disagreement, RankSeen
from trainlint.facts.seen.timeline import Span
from trainlint.facts.trace_file import load
from trainlint.finding import Because, Finding, Place
from trainlint.html_report.page import page
from trainlint.report import Report

TRAINS = """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, mask):
        return self.norm(x + self.attention(x, x, x, attn_mask=mask)[0])

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 8)
        self.blocks = nn.ModuleList([Block(8) for _ in range(4)])
        self.head = nn.Linear(8, 20)

    def forward(self, tokens):
        mask = torch.triu(torch.ones(10, 10, dtype=torch.bool), diagonal=1)
        x = self.tokens(tokens)
        x = self.blocks[0](x, mask).detach()
        for block in self.blocks[1:]:
            x = block(x, mask)
        return self.head(x)

loader = DataLoader(TensorDataset(torch.randint(20, (32, 11))), batch_size=8, shuffle=True)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    for (batch,) in loader:
        optimizer.zero_grad()
        logits = model(batch[:, :-1])
        F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten()).backward()
        optimizer.step()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    (folder / "train.py").write_text(TRAINS)
    command = ["-m", "trainlint", "run", "--steps", "3", "--no-cache"]
    ran = python([*command, "--report", "step.html", "--save-trace", "step.json", "train.py"], folder)
    assert ran.returncode == 1, ran.stderr
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Recorded:
    return load(folder / "step.json")


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def shown(folder: Path, tab: Browser) -> Browser:
    tab.open(folder / "step.html")
    return tab


def of(run: Recorded) -> str:
    return page(Report((), (), 1, 0.0, run=run), lambda _: ())


def numbers(text: str, selector: str, tab: Browser, tmp_path: Path) -> str:
    file = tmp_path / "page.html"
    file.write_text(text)
    tab.open(file)
    return tab.text(selector)


@needs_browser
def test_every_panel_is_there_and_linked(shown: Browser) -> None:
    links = shown.run("return [...document.querySelectorAll('nav a')].map(a => a.getAttribute('href'))")
    assert links == [
        *("#findings", "#losses", "#modules", "#gradients", "#lost", "#masks", "#batch", "#time", "#checks"),
    ]
    for link in links:
        assert shown.text(f"{link} h2")


@needs_browser
def test_gradients_are_those_of_the_recording(shown: Browser, run: Recorded) -> None:
    text = shown.text("#gradients table")
    head = next(one for one in run.facts(ParameterSeen) if one.name == "head.weight")
    assert head.gradient is not None
    (row,) = [line for line in text.splitlines() if line.startswith("head.weight")]
    assert f"{head.gradient.norm:.3g}" in row and f"{head.update:.3g}" in row
    (row,) = [line for line in text.splitlines() if line.startswith("tokens.weight")]
    assert "none" in row


@needs_browser
def test_equal_blocks_are_one_row_and_the_one_that_stands_out_is_not_in_it(
    shown: Browser, run: Recorded
) -> None:
    names = shown.run("return [...document.querySelectorAll('#modules .name b')].map(one => one.innerText)")
    assert "1 to 3" in names and "0" in names
    norms = [
        one.gradient.norm
        for one in run.facts(ParameterSeen)
        if one.name.endswith("norm.weight") and one.gradient is not None
    ]
    assert len(norms) == 3
    low, high = f"{min(norms):.3g}", f"{max(norms):.3g}"
    text = shown.text("#gradients table")
    (row,) = [line for line in text.splitlines() if line.startswith("blocks.*.norm.weight \u00d7 3")]
    assert f"{low} \u2013 {high}" in row


@needs_browser
def test_the_way_of_a_lost_gradient_shows_the_cut(shown: Browser) -> None:
    assert "detach cuts" in shown.text("#lost")
    assert shown.text("#lost li.cut") == "detach"
    assert "tokens" in shown.text("#lost")


@needs_browser
def test_a_mask_is_drawn_as_it_was(shown: Browser) -> None:
    pixels = shown.run(
        """
        const image = document.querySelector('#masks img'), canvas = document.createElement('canvas');
        canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
        const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);
        const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
        return [...Array(canvas.height).keys()].map(row =>
            [...Array(canvas.width).keys()].map(column => data[4 * (row * canvas.width + column)] < 128));
        """
    )
    assert pixels == [[key > query for key in range(10)] for query in range(10)]
    assert "45% masked" in shown.run("return document.querySelector('#masks img').alt")


@needs_browser
def test_the_first_sample_stands_over_its_targets(shown: Browser) -> None:
    inputs, targets = shown.run(
        "return [...document.querySelectorAll('.tokens')].map(one => one.innerText.split(' '))"
    )
    assert len(inputs) == len(targets) == 10
    assert inputs[1:] == targets[:-1]


@needs_browser
def test_a_step_is_divided_into_its_phases(shown: Browser, run: Recorded) -> None:
    spans = [one for one in run.facts(Span) if one.step == 2 and one.depth == 0]
    assert [one.kind for one in sorted(spans, key=lambda one: one.begin)] == [
        "data",
        "forward",
        "backward",
        "step",
    ]
    assert all(one.end <= other.begin for one, other in itertools.pairwise(spans))
    legend = shown.text("#time ul.legend")
    assert all(word in legend for word in ("waiting for data", "forward", "backward", "optimizer step"))
    backwards = [
        one.name for one in run.facts(Span) if one.kind == "backward" and one.depth == 1 and one.step == 2
    ]
    assert backwards[0] == "head" and "tokens" not in backwards


@needs_browser
def test_a_link_opens_what_it_leads_to(shown: Browser) -> None:
    shown.run("document.querySelectorAll('details').forEach(one => one.open = false)")
    shown.run("document.querySelector('#modules details details li').id = 'deep'; location.hash = 'deep'")
    assert shown.run("return document.getElementById('deep').checkVisibility()")
    assert shown.run("return [...document.querySelectorAll('summary')].every(one => one.tabIndex === 0)")


@needs_browser
def test_names_are_text_whatever_they_are(tab: Browser, tmp_path: Path) -> None:
    hostile = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m"
    at = Place(hostile, 1, 1, 1, 5)
    run = big_model(20, alike=True)
    seen: list[object] = [
        replace(one, path=hostile, type=hostile)
        if isinstance(one, ModuleSeen) and one.path == "blocks.0"
        else one
        for one in run.seen
    ]
    seen += [
        MaskSeen(at, hostile, (2, 2), hostile, (1, 1, 2, 2), 0.5, 1, 2, (), module=hostile),
        BatchSeen(at, "input", hostile, hostile, (2, 2), "int64", "cpu", None, sample=(1, 2), text=hostile),
        Warned(at, hostile, hostile),
        Disagreement(at, hostile, hostile, {0: hostile, 1: ""}),
        RankSeen(0, 1),
        Span("step", hostile, 0.0, 1.0, 1),
    ]
    finding = Finding(at, hostile, (Because(at, hostile),), "error", "TL101", hostile, subject=hostile)
    finding = replace(finding, evidence={hostile: hostile}, verdict="observed")
    report = Report((finding,), (), 1, 0.0, replace(run, seen=tuple(seen), argv=(hostile,)), (hostile,))
    file = tmp_path / "hostile.html"
    file.write_text(page(report, lambda _: (hostile,)))
    tab.open(file)
    assert tab.messages() == [] and tab.requests() == [file.as_uri()]
    assert tab.run("return document.querySelectorAll('script, img[src=x]').length") == 1
    text = tab.run("return document.documentElement.textContent")
    assert "<script>alert(1)</script>" in text and "\\u202e" in text
    assert "\u202e" not in text and "\x1b" not in text


@needs_browser
@pytest.mark.parametrize("alike", [True, False])
def test_a_big_model_stays_small_and_shows_all_of_it(tab: Browser, tmp_path: Path, alike: bool) -> None:
    text = of(big_model(1000, alike=alike))
    assert len(text.encode()) < 1_100_000 + 2_000 * 1000
    rows = numbers(text, "#modules h2", tab, tmp_path)
    assert rows == "Modules"
    assert tab.run("return document.querySelectorAll('#modules .name').length") >= 1000


def test_pictures_that_are_none_are_left_out() -> None:
    huge = base64.b64encode(zlib.compress(bytes(1_000_000))).decode()
    for cells in ("", "not base64!", base64.b64encode(b"not zlib").decode(), huge):
        mask = MaskSeen(
            Place("a.py", 1, 1, 1, 2), "sdpa", (2, 2), "bool", (1, 1, 2, 2), 0.5, 0, 2, (2, 3),
            picture=MaskPicture("queries", 2, 2, cells),
        )  # fmt: skip
        text = of(replace(big_model(10, alike=True), seen=(mask,)))
        assert "<img" not in text and "Each mask" in text


def test_what_only_a_panel_shows_is_in_the_headline() -> None:
    run = big_model(10, alike=True)
    odd = Disagreement(None, "batch shapes", "input 0", {0: "[16]", 1: "[8]"})
    ranks = (RankSeen(0, 3, 1.5, 0.25, (16,), 0.5), RankSeen(1, 3, 1.25, 0.25, (8,), 0.5))
    text = of(replace(run, seen=(*run.seen, odd, *ranks)))
    assert "No rule found anything, but look at: Ranks</h1>" in text
    assert text.count(">0.25</td>") == 2
    assert "Nothing wrong was found" in of(run)


def test_nothing_recorded_is_a_page_too() -> None:
    run = replace(big_model(10, alike=True), seen=())
    assert "Nothing wrong was found" in of(run)
