"""The timeline of a run as trace events."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.reported import big_model
from trainlint.facts.seen.timeline import Span
from trainlint.output.perfetto import trace_events


def test_spans_are_complete_events_in_microseconds_in_their_order() -> None:
    spans = (
        Span("step", "SGD", 3.0, 3.5, 1),
        Span("forward", "fc", 1.25, 1.5, 1, 1),
        Span("forward", "", 1.0, 2.0, 1),
        Span("data", "DataLoader", 0.5, 1.0, 1),
    )
    document = json.loads(trace_events(replace(big_model(10, alike=True), seen=spans)))
    names, events = document["traceEvents"][:2], document["traceEvents"][2:]
    assert [one["ph"] for one in names] == ["M", "M"]
    assert {one["ph"] for one in events} == {"X"}
    told = [(one["name"], one["cat"], one["ts"], one["dur"]) for one in events]
    assert told == [
        ("waiting for data DataLoader", "data", 500_000, 500_000),
        ("forward", "forward", 1_000_000, 1_000_000),
        ("fc", "forward", 1_250_000, 250_000),
        ("optimizer step SGD", "step", 3_000_000, 500_000),
    ]
    assert {one["args"]["step"] for one in events} == {1}
