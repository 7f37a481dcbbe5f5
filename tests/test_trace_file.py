"""Recordings as JSON: every field is written and read back, or belongs to source alone."""

from __future__ import annotations

from dataclasses import fields

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.trace_file import dumped, loaded


def test_a_recording_in_which_nothing_happened_comes_back() -> None:
    """A field that a recording cannot write fails here first, and not in each program that is run."""
    run = Recorded(path="train.py", entry="program", files=frozenset({"models/net.py"}))
    back = loaded(dumped(run))
    assert {one.name: getattr(back, one.name) for one in fields(run)} == {
        one.name: getattr(run, one.name) for one in fields(run)
    }
