"""Methods of models whose code is not in sight: one whose result is trained is a forward of the model.

`loss = model.loss_on(batch)` may be anything. Once somebody has run backward on what it gives, it is known that it computes with
the model: there, and wherever the same method is called again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.values import Constant, Object, Op, Value
from trainlint.program.evaluate import keys
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


class UnseenCall(NamedTuple):
    """A call of such a method."""

    name: str
    made: Op
    at: s.Span


def called(ev: Evaluator, model: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """What a method gives that `nn.Module` does not have."""
    made = ev.op("call", given.args, at, text, given.options, owner=model)
    if given.args:
        if ev.store.get((model.uid, keys.computes(name))) is not None:
            output = ev.op("output", (made,), at, text, owner=model)
            _forward(ev, made, output, at)
            return output
        ev.unseen_calls[made.uid] = UnseenCall(name, made, at)
    return made


def trained(ev: Evaluator, loss: Value) -> None:
    """Backward runs on a loss: the methods that it was computed by, without a cut in between, compute with their models."""
    for one in made_of(loss, lambda op: op.records is False or op.name in ("detach", "data", "item")):
        found = ev.unseen_calls.get(one.uid)
        if found is None or found.made.records is False or found.made.owner is None:
            continue
        key = (found.made.owner.uid, keys.computes(found.name))
        if ev.store.get(key) is None:
            ev.store.set(key, Constant(value=True))
            _forward(ev, found.made, found.made, found.at)


def _forward(ev: Evaluator, made: Op, output: Op, at: s.Span) -> None:
    ev.emit(
        Forward, at, module=made.owner, inputs=made.inputs, output=output, records=ev.records, text=made.text
    )
