"""Links and colours on a terminal: where they lead, where there are none, and that they can be read."""

from __future__ import annotations

import importlib.metadata
import os
import re
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urlsplit

import pytest

from tests.test_terminal import in_a_pipe, on_a_terminal
from trainlint.finding import Because, Finding, Place
from trainlint.output.layout import Layout
from trainlint.output.links import linked
from trainlint.output.printable import cells
from trainlint.output.style import COLOURS, coloured, plain
from trainlint.output.text import finding_text

if TYPE_CHECKING:
    from tests.conftest import Project

LINK = re.compile(r"\x1b\]8;;([^\x1b]*)\x1b\\(.*?)\x1b\]8;;\x1b\\", re.DOTALL)


def test_codes_lead_to_pages_and_places_to_files() -> None:
    found = {words: where for where, words in LINK.findall(on_a_terminal())}
    where = urlsplit(found["error[TL101]"])
    if where.scheme == "file":  # an installed package names its site
        page = Path(unquote_to_bytes(where.path).decode())
        assert page.read_text().startswith("# TL101 ")
    else:
        assert where.path.endswith("/rules/tl101/")
    assert Path(urlsplit(found["train.py:24:13"]).path).is_file()
    assert len(found) >= 6


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [({}, True), ({"TERM": "linux"}, False), ({"TERM": "dumb"}, False), ({"FORCE_HYPERLINK": "0"}, False), ({"NO_COLOR": "1"}, False)],
)  # fmt: skip
def test_where_there_are_links(variables: dict[str, str], wanted: bool) -> None:
    assert bool(LINK.search(on_a_terminal(variables=variables))) is wanted


def test_a_pipe_has_links_only_where_they_are_asked_for() -> None:
    assert not LINK.search(in_a_pipe(FORCE_COLOR="1"))
    assert LINK.search(in_a_pipe(FORCE_COLOR="1", FORCE_HYPERLINK="1"))


def test_the_site_where_the_package_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Message()
    said["Project-URL"] = "Documentation, https://example.com/docs/"
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: said)
    assert linked("x", "TL101") == "\x1b]8;;https://example.com/docs/rules/tl101/\x1b\\x\x1b]8;;\x1b\\"


@pytest.mark.parametrize(
    "name", ["a b.py", "\x1b]8;;evil\x1b\\.py", "é#?%41.py", os.fsdecode(b"latin\xe9.py")]
)
def test_names_of_files_stay_names(project: Project, name: str) -> None:
    root = project({})
    (root / name).write_text("")
    found = linked("x", Place(name, 1, 1, 1, 2))
    [(where, words)] = LINK.findall(found)
    assert words == "x"
    assert unquote_to_bytes(urlsplit(where).path) == os.fsencode(root / name)
    assert re.fullmatch(r"[\w:/%.~-]+", where, re.ASCII)


@pytest.mark.parametrize("path", ["<stdin>", "gone.py"])
def test_what_is_no_file_is_no_link(project: Project, path: str) -> None:
    project({})
    assert linked("x", Place(path, 1, 1, 1, 2)) == "x"


AT = Place("a/folder/of/modules/network.py", 7, 5, 7, 25)
FINDING = Finding(
    AT,
    "`torch.softmax(scores)` turns logits into probabilities, but nn.CrossEntropyLoss applies log-softmax itself: "
    "gradients nearly vanish and the loss stays high. Pass the logits.",
    (
        Because(
            Place("train.py", 22, 13, 22, 40),
            "probabilities reach nn.CrossEntropyLoss here, after three functions",
        ),
    ),
    "error",
    "TL101",
    "softmax-before-cross-entropy",
    evidence={"gradient norm": 0.5, "loss": float("nan"), "largest": float("inf")},
    verdict="confirmed",
    confidence="likely",
    doubt="nothing in sight says what `scores` are when this function is called from elsewhere",
)
SOURCE = [
    f"    {'x' * 4} = torch.softmax(scores, dim=-1) + something_else({line}, and_more, of_this)"
    for line in range(30)
]


@pytest.mark.parametrize("columns", range(40, 201, 4))
def test_messages_fit_any_width_and_go_on_further_in(columns: int) -> None:
    pieces = list(finding_text(FINDING, lambda _: SOURCE, Layout(columns)))
    text = plain(pieces)
    lines = text.splitlines()
    assert max(map(cells, lines)) <= columns
    whole = plain(finding_text(FINDING, lambda _: SOURCE, Layout(None)))
    assert FINDING.message in whole
    said = text[: text.index("\n  likely")]
    assert re.sub(r"\n    ", " ", said) == whole[: whole.index("\n  likely")]
    assert plain(pieces) == LINK.sub(r"\2", re.sub(r"\x1b\[[\d;]*m", "", coloured(pieces, links=True)))


def test_what_a_run_confirms_has_not_the_colour_of_an_error_and_bad_numbers_do() -> None:
    meanings = {
        piece.text.strip(): piece.meaning for piece in finding_text(FINDING, lambda _: SOURCE, Layout())
    }
    assert meanings["confirmed"] == "strong"
    assert meanings["gradient norm = 0.5"] == ""
    assert meanings["loss = nan"] == meanings["largest = inf"] == "error"


PALETTE = {"red": (255, 0, 0), "magenta": (255, 0, 255), "blue": (92, 92, 255), "yellow": (255, 255, 0), "cyan": (0, 255, 255), "green": (0, 255, 0)}  # fmt: skip
"""Bold colours of xterm."""


def contrast(colour: str, other: float) -> float:
    """As WCAG defines it, of a colour with a grey of this luminance."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (one / 255 for one in PALETTE[colour])
    ]
    own = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return (max(own, other) + 0.05) / (min(own, other) + 0.05)


def test_colours_can_be_read_on_dark_and_on_light() -> None:
    for colour in COLOURS.values():
        assert min(contrast(colour, 0.0), contrast(colour, 1.0)) >= 3, colour
    assert min(contrast("yellow", 0.0), contrast("yellow", 1.0)) < 3
