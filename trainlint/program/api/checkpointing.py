"""`torch.utils.checkpoint`: a call through it does what the function does, and is recomputed in the backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.events.forwards import Checkpointed
from trainlint.facts.model.values import Object, Unknown, Value
from trainlint.program.evaluate.values import Arguments, Bound, FunctionValue, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_OWN = frozenset(
    ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")
)
"""Options of `checkpoint` itself; all others go to the function."""


def checkpointed(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`checkpoint(function, *inputs)`."""
    function = given.get(0, "function")
    if not isinstance(function, (Object, FunctionValue, Bound, Partial)):
        return None
    options = {key: one for key, one in given.options.items() if key not in (*_OWN, "function")}
    inputs = given.args[1:]
    output = ev.call(function, Arguments(inputs, options, given.open), at, text)
    _note(ev, given, at, inputs, output)
    return output


def in_segments(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`checkpoint_sequential(layers, segments, input)`."""
    layers, flow = given.get(0, "functions"), given.get(2, "input")
    if not isinstance(layers, Object) or flow is None:
        return None
    output = ev.call(layers, Arguments((flow,)), at, text)
    _note(ev, given, at, (flow,), output, given.get(1, "segments") or ev.unknown("segments"))
    return output


def _note(
    ev: Evaluator,
    given: Arguments,
    at: s.Span,
    inputs: tuple[Value, ...],
    output: Value,
    segments: Value | None = None,
) -> None:
    if isinstance(output, Unknown):
        return
    ev.emit(
        Checkpointed,
        at,
        inputs=inputs,
        output=output,
        reentrant=given.options.get("use_reentrant"),
        segments=segments,
        records=ev.records,
        is_open=given.open,
    )
