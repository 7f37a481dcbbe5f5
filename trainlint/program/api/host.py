"""Notes where a program hands numbers of tensors to Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.operations import TO_HOST
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.operations import ToHost
from trainlint.facts.model.values import Constant, Op, Value
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_PRINTING = frozenset(("print", "float", "int"))
_COMPARES = frozenset(
    "< <= > >= == != and or not lt le gt ge eq ne logical_and logical_or logical_not isnan isfinite".split()
)
_SHAPES = frozenset("unsqueeze squeeze expand expand_as view reshape flatten bool".split())
"""What gives a mask another shape."""
_READING = _PRINTING | {"str", "repr", "format"}
"""Functions of Python's that read the numbers of a tensor."""


def note_method(ev: Evaluator, receiver: Value, name: str, given: Arguments, at: s.Span, text: str) -> None:
    """`x.item()`, `x.cpu()`, `x.to("cpu")`."""
    first = given.args[0] if given.args else None
    is_cpu = name == "to" and isinstance(first, Constant) and first.value == "cpu"
    if (name in TO_HOST and not given.all()) or is_cpu:
        _note(ev, "cpu" if is_cpu else name, receiver, at, text)


def note_builtin(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> None:
    """`float(loss)`, `print(loss)`."""
    for one in given.args if name in _READING else ():
        if name in _PRINTING and isinstance(one, Op) and is_tensor(one):
            _note(ev, name, one, at, text)
            return
        note_reading(ev, name, one, at)


def note_reading(ev: Evaluator, name: str, value: Value, at: s.Span) -> None:
    """Something is printed, or made text, that may be a tensor."""
    if not isinstance(value, Constant):
        ev.emit(Called, at, name=f"builtins.{name}", args=(value,))


def note_selection(ev: Evaluator, tensor: Value, index: Value, at: s.Span) -> None:
    """`x[x > 0]`: how much that gives is known only once the device has looked."""
    while isinstance(index, Op) and index.name in _SHAPES and index.inputs:
        index = index.inputs[0]
    if isinstance(index, Op) and index.name in _COMPARES:
        ev.emit(Called, at, name="torch.masked_select", args=(tensor, index))


def note_function(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> None:
    """A function of NumPy's is handed a tensor."""
    if name.startswith("numpy.") and name != "numpy.squeeze":  # which passes on to the tensor's own
        for one in given.args:
            if isinstance(one, Op) and is_tensor(one):
                _note(ev, name, one, at, text)
                return


def _note(ev: Evaluator, name: str, tensor: Value, at: s.Span, text: str) -> None:
    ev.emit(
        ToHost,
        at,
        name=name,
        tensor=tensor,
        text=text,
        module=ev.forwarding(),
        records=ev.records,
        under=ev.guards_in_forward(),
    )
