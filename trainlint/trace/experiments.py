"""Experiments on copies of the models, after the recorded step."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.trace.recorder import Recorder


def experiments(recorder: Recorder) -> Iterator[object]:
    """What each experiment has shown."""
    return iter(())
