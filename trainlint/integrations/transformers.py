"""A callback for the `Trainer` of transformers, and for those of TRL that are made of it."""

from __future__ import annotations

import os
from typing import Any

from transformers import TrainerCallback, TrainerState, TrainingArguments

from trainlint.integrations.watching import watch


class TrainlintCallback(TrainerCallback):
    """Records and judges some steps of a training, as `trainlint.watch` does.

    Args:
        options: those of `watch`; pages go into `trainlint-reports` in the output folder unless `folder` says otherwise.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self.watched: watch | None = None
        """The watched training, once it has begun."""

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, *_: Any, **__: Any) -> None:
        folder = os.path.join(args.output_dir or ".", "trainlint-reports")
        self.watched = watch(**{"folder": folder, "step": state.global_step, **self._options})
        self.watched.__enter__()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        if self.watched is not None:
            self.watched.__exit__(None, None, None)
