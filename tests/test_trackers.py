"""Trackers of experiments, as far as a program uses them: each is told what was found, and none can harm a training."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from trainlint.integrations.trackers import News, Trackers


class Log(list[tuple[Any, ...]]):
    """What was called, in order."""

    def __call__(self, name: str) -> Any:
        return lambda *args, **kwargs: self.append((name, *args, *kwargs.items()))


@pytest.fixture
def said() -> Log:
    return Log()


@pytest.fixture
def news(tmp_path: Path) -> News:
    page = tmp_path / "step-3.html"
    page.write_text("<p>a page</p>")
    return News(3, 1, ["TL212 at train.py:3: NaN"], page)


def module(monkeypatch: pytest.MonkeyPatch, name: str, **held: Any) -> None:
    made = types.ModuleType(name)
    vars(made).update(held)
    monkeypatch.setitem(sys.modules, name, made)


def test_wandb(said: Log, news: News, monkeypatch: pytest.MonkeyPatch) -> None:
    run = types.SimpleNamespace(log=said("log"))
    module(monkeypatch, "wandb", run=run, Html=lambda text, inject: ("html", text, inject))
    Trackers().tell(news)
    told = {"trainlint/findings": 1, "trainlint/report": ("html", "<p>a page</p>", False)}
    assert said == [("log", told, ("commit", False))]


def test_mlflow(said: Log, news: News, monkeypatch: pytest.MonkeyPatch) -> None:
    metric, artifact = said("metric"), said("artifact")
    module(monkeypatch, "mlflow", active_run=object, log_metric=metric, log_artifact=artifact)
    Trackers().tell(news)
    assert said == [
        ("metric", "trainlint/findings", 1, ("step", 3)),
        ("artifact", str(news.page), "trainlint"),
    ]


class SummaryWriter:
    def __init__(self, said: Log, is_open: bool) -> None:
        self.file_writer = object() if is_open else None
        self.add_scalar, self.add_text = said("scalar"), said("text")


def test_tensorboard(said: Log, news: News, monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "torch.utils.tensorboard.writer", SummaryWriter=SummaryWriter)
    writers = [SummaryWriter(said, is_open=True), SummaryWriter(said, is_open=False)]
    Trackers().tell(news)
    assert said == [
        ("scalar", "trainlint/findings", 1, 3),
        ("text", "trainlint", "TL212 at train.py:3: NaN", 3),
    ]
    assert len(writers) == 2


def test_no_run_is_open(said: Log, news: News, monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "wandb", run=None)
    module(monkeypatch, "mlflow", active_run=lambda: None, log_metric=said("metric"))
    Trackers().tell(news)
    assert said == []


def test_one_that_fails_is_told_nothing_more(news: News, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def fails(*_: Any, **__: Any) -> None:
        tries.append(1)
        raise ValueError("offline")

    module(monkeypatch, "wandb", run=types.SimpleNamespace(log=fails), Html=lambda text, inject: text)
    trackers = Trackers()
    trackers.tell(news)
    trackers.tell(news)
    assert tries == [1]
