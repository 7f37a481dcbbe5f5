"""The timeline of a run as trace events, which https://ui.perfetto.dev and chrome://tracing show."""

from __future__ import annotations

import json
from typing import Any

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.timeline import Span

_NAMES = {"data": "waiting for data", "forward": "forward", "backward": "backward", "step": "optimizer step"}


def trace_events(run: Recorded) -> str:
    """Complete events in microseconds, one after the other as they began; what is inside another is drawn under it."""
    process = run.rank.number
    name = f"rank {process}" if run.rank.world > 1 else " ".join(run.argv) or "training"
    named: dict[str, Any] = {"ph": "M", "pid": process, "tid": 1}
    events = [
        {**named, "name": "process_name", "args": {"name": name}},
        {**named, "name": "thread_name", "args": {"name": "training"}},
        *(
            _event(one, process)
            for one in sorted(run.facts(Span), key=lambda one: (one.begin, -one.end, one.depth))
        ),
    ]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, separators=(",", ":"))


def _event(span: Span, process: int) -> dict[str, Any]:
    inside = span.depth > 0 and bool(span.name)
    name = span.name if inside else f"{_NAMES.get(span.kind, span.kind)} {span.name}".rstrip()
    return {
        "ph": "X",
        "name": name,
        "cat": span.kind,
        "ts": round(span.begin * 1e6, 3),
        "dur": round(max(0.0, span.end - span.begin) * 1e6, 3),
        "pid": process,
        "tid": 1,
        "args": {"step": span.step},
    }
