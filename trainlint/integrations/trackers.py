"""Trackers of experiments that a program uses: what is found goes there too. None of them is imported here."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

log = logging.getLogger("trainlint")

COUNT = "trainlint/findings"
_WRITERS = ("torch.utils.tensorboard.writer", "tensorboardX.writer")


@dataclass(frozen=True)
class News:
    """What a recorded step has shown.

    Args:
        count: findings so far.
        new: what is new, in sentences.
        page: the step to look at, where something is new and it was written.
    """

    step: int
    count: int
    new: Sequence[str]
    page: Path | None


class Trackers:
    """Tells each tracker that has a run open. One that fails is told nothing more, and training goes on."""

    def __init__(self) -> None:
        self._ways: list[Callable[[News], None]] = [_wandb, _mlflow, _tensorboard]

    def tell(self, news: News) -> None:
        for way in list(self._ways):
            try:
                way(news)
            except Exception as error:
                self._ways.remove(way)
                log.warning("trainlint could not tell %s: %s", way.__name__.strip("_"), error)


def _wandb(news: News) -> None:
    library = sys.modules.get("wandb")
    run = getattr(library, "run", None)
    if library is None or run is None:
        return
    told: dict[str, Any] = {COUNT: news.count}
    if news.page is not None:
        told["trainlint/report"] = library.Html(news.page.read_text(encoding="utf-8"), inject=False)
    run.log(told, commit=False)  # with what the program logs next, in its own count of steps


def _mlflow(news: News) -> None:
    library = sys.modules.get("mlflow")
    if library is None or library.active_run() is None:
        return
    library.log_metric(COUNT, news.count, step=news.step)
    if news.page is not None:
        library.log_artifact(str(news.page), "trainlint")


def _tensorboard(news: News) -> None:
    kinds = tuple(
        kind
        for name in _WRITERS
        if (kind := getattr(sys.modules.get(name), "SummaryWriter", None)) is not None
    )
    if not kinds:
        return
    for one in gc.get_objects():
        if issubclass(type(one), kinds) and getattr(one, "file_writer", None) is not None:
            one.add_scalar(COUNT, news.count, news.step)
            if news.new:
                one.add_text("trainlint", "\n\n".join(news.new), news.step)
