"""A callback for Lightning's `Trainer`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

try:
    from lightning.pytorch import Callback, Trainer
except ImportError:  # its other name
    from pytorch_lightning import Callback, Trainer

from trainlint.finding import Finding
from trainlint.integrations.watching import watch


class TrainlintCallback(Callback):
    """Records and judges some steps of a training, as `trainlint.watch` does, and logs how many findings there are.

    Args:
        options: those of `watch`; pages go into `trainlint-reports` in the trainer's root folder unless `folder` says
            otherwise.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = options
        self.watched: watch | None = None
        """The watched training, once it has begun."""

    def on_train_start(self, trainer: Trainer, *_: Any) -> None:
        def tell(step: int, _: Sequence[Finding]) -> None:
            assert self.watched is not None
            for logger in trainer.loggers:
                logger.log_metrics({"trainlint/findings": len(self.watched.findings)}, step)

        folder = os.path.join(trainer.default_root_dir, "trainlint-reports")
        given = {"folder": folder, "step": trainer.global_step, "tell": tell, "trackers": False}
        self.watched = watch(**{**given, **self._options})
        self.watched.__enter__()

    def on_train_end(self, *_: Any) -> None:
        self._end(None)

    def on_exception(self, *given: Any) -> None:
        self._end(given[-1])

    def _end(self, error: BaseException | None) -> None:
        if self.watched is not None:
            self.watched.__exit__(type(error) if error is not None else None, error, None)
