"""Other processes that evaluate entry points of one group: what is found is what one process finds alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.test_order import sample
from trainlint.check.analysis import Analysis, Source, analyse
from trainlint.program.evaluate import entry_points
from trainlint.program.incremental import group, groups, helpers
from trainlint.program.incremental.outcome import Entry, Outcome, Turn

pytestmark = pytest.mark.skipif(not helpers.can_help(), reason="needs processes that can be copied")

WITH_REGISTRY = {
    "models.py": "FOUND = {}\n",
    "nets.py": """\
from torch import nn
from models import FOUND

class Net(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(4, 2)
        FOUND["head"] = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=1))
        super().__init__()
""",
    "train.py": """\
import torch
import nets
from models import FOUND

def train(x, y):
    loss = torch.nn.CrossEntropyLoss()(FOUND["head"](x), y)
    loss.backward()
""",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """Two copies help with every group; the entry points that they have evaluated in time."""
    found: list[Entry] = []
    outcome = helpers.Helpers.outcome

    def noting(self: helpers.Helpers, entry: Entry) -> Outcome | None:
        known = outcome(self, entry)
        if known is not None:
            found.append(entry)
        return known

    monkeypatch.setattr(helpers.Helpers, "outcome", noting)
    return found


def in_one_process_and_in_more(paths: list[str]) -> tuple[Analysis, Analysis]:
    sources = [Source(path) for path in paths]
    alone = analyse(sources, jobs=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "check", lambda *given, **more: group.check(*given, **{**more, "copies": 2}))
        return alone, analyse(sources, jobs=1)


def test_scenarios_in_packages(folder: Path, asked: list[Entry]) -> None:
    tried = sample(6)
    pages: dict[str, list[str]] = {}
    for number, scenario in enumerate(tried):
        scenario.write(folder / f"part{number}")
        files = [f"part{number}/{path}" for path in scenario.files]
        pages.setdefault(f"{scenario.name.partition(':')[0]}.py", []).extend(files)
    for page, files in pages.items():
        names = (file.removesuffix(".py").replace("/", ".") for file in files)
        (folder / page).write_text("import torch\n" + "".join(f"import {name}\n" for name in names))
    alone, together = in_one_process_and_in_more(
        [*pages, *(file for files in pages.values() for file in files)]
    )
    assert len(alone.findings) > len(tried) / 2
    assert together == alone
    assert len(asked) > len(tried) / 2


def test_what_one_entry_point_leaves_for_others(
    folder: Path, asked: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in WITH_REGISTRY.items():
        (folder / path).write_text(text)
    copied: list[int] = []

    @contextmanager
    def noting(
        count: int, work: helpers.Work, turns: Sequence[Turn], known: helpers.Known
    ) -> Iterator[helpers.Helpers]:
        copied.append(len(turns))
        with helpers.helpers(count, work, turns, known) as found:
            yield found

    monkeypatch.setattr(entry_points, "helpers", noting)
    alone, together = in_one_process_and_in_more([*WITH_REGISTRY])
    assert together == alone
    assert len(alone.findings) > 1
    assert copied == [3, 2]  # the second time for what comes after it


def test_a_copy_that_dies(folder: Path, asked: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    for path, text in WITH_REGISTRY.items():
        (folder / path).write_text(text)
    monkeypatch.setattr(helpers, "_help", lambda *_: None)
    alone, together = in_one_process_and_in_more([*WITH_REGISTRY])
    assert together == alone and not asked


def test_what_was_passed_over_for_something_that_does_not_count() -> None:
    """Nobody evaluates `last` at first, as `second` reaches it; `first` reaches `second`, which does not count then."""
    reaches = {"first": ("first", "second"), "second": ("second", "last"), "last": ("last",)}
    turns = [Turn(("function", "a.py", number), ("a.py", number)) for number in range(3)]
    number = {name: one for one, name in enumerate(reaches)}
    outcomes = {
        turn.entry: Outcome(
            (), *(frozenset(),) * 2, frozenset(("a.py", number[one]) for one in reached), *(frozenset(),) * 4
        )
        for turn, reached in zip(turns, reaches.values(), strict=True)
    }
    known = helpers.Known(set(), set())
    ends = [Pipe() for _ in range(2)]
    asked: list[Entry] = []
    ahead = helpers.Helpers([mine for mine, _ in ends], turns, known)

    def answer() -> None:
        for _, other in ends:
            while other.poll():
                asked.append(other.recv())
                other.send(outcomes[asked[-1]])

    ahead._ask()
    answer()
    first = ahead.outcome(turns[0].entry)
    assert first is not None
    known.reached.update(first.reached)
    known.entered.add(turns[0].code)
    answer()
    assert known.passes_over(turns[1])
    assert ahead.outcome(turns[2].entry) == outcomes[turns[2].entry]
    assert sorted(asked) == [turn.entry for turn in turns]


def own_turns(count: int) -> tuple[list[Turn], dict[Entry, Outcome]]:
    """Functions of which each reaches itself alone, and what they lead to."""
    turns = [Turn(("function", "a.py", number), ("a.py", number)) for number in range(count)]
    outcomes = {
        turn.entry: Outcome((), *(frozenset(),) * 2, frozenset((("a.py", number),)), *(frozenset(),) * 4)
        for number, turn in enumerate(turns)
    }
    return turns, outcomes


def answered(other: Connection, outcomes: dict[Entry, Outcome]) -> list[Entry]:
    """What a copy has been asked for by now, and answers."""
    asked = []
    while other.poll():
        asked.append(other.recv())
        other.send(outcomes[asked[-1]])
    return asked


def test_a_copy_that_is_done_is_asked_again_before_it_is_the_turn_of_what_it_did() -> None:
    turns, outcomes = own_turns(10)
    mine, other = Pipe()
    ahead = helpers.Helpers([mine], turns, helpers.Known(set(), set()))
    ahead._ask()
    first = answered(other, outcomes)
    assert len(first) > 1
    assert ahead.outcome(turns[0].entry) == outcomes[turns[0].entry]
    then = answered(other, outcomes)
    assert [*first, *then] == [turn.entry for turn in turns[: 2 * len(first)]]


def test_a_copy_runs_ahead_no_further_than_what_is_held() -> None:
    turns, outcomes = own_turns(helpers._WINDOW + 20)
    mine, other = Pipe()
    ahead = helpers.Helpers([mine], turns, helpers.Known(set(), set()))
    asked: list[Entry] = []
    for _ in turns:
        ahead._receive(0)
        ahead._ask()
        asked += answered(other, outcomes)
    assert asked == [turn.entry for turn in turns[: helpers._WINDOW]]
