"""Both ways of a condition that is not decided, each followed to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from trainlint.facts.model.nodes import Branch, Node
from trainlint.program.evaluate import conditions
from trainlint.program.evaluate.blocks import Signal
from trainlint.program.evaluate.store import Layer

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_NEAREST = ("continue", "break", "return", "raise")
"""Where two ways end differently, the program may go on where the first of these leads."""


class Ways(NamedTuple):
    """What is done on each way of a condition, given how it turns out."""

    follow: Callable[[bool], Signal]
    assume: Callable[[bool], None]
    """What is known on this way."""
    go_on: Callable[[bool], None]
    """What is known behind it, where the other way has left."""


class _Left(NamedTuple):
    """What a way does, how it ends, what it leaves, and the conditions that hold at its end since others have left it:
    `else: raise` behind a chain of settings says which of them it is."""

    nodes: list[Node]
    signal: Signal
    layer: Layer
    also: tuple[conditions.Guard, ...]


def fork(
    ev: Evaluator, guard: conditions.Guard, varies: frozenset[int], ways: Ways, is_elif: bool = False
) -> Signal:
    """Follow both ways of a condition, and join what they leave; how the two end."""
    made = len(ev.objects)
    varying = ev.varying.setdefault(guard[0], varies)
    branch = Branch(guard[0], tuple(sorted(varying)))
    yes, no = (_way(ev, ways, outcome) for outcome in (True, False))
    branch.then, branch.otherwise = (yes.nodes, no.nodes) if guard[1] else (no.nodes, yes.nodes)
    ev.nodes.append(branch)
    if yes.signal is not None and no.signal is not None:
        if (yes.signal == "raise") != (no.signal == "raise") and not ev.frames[-1].trying:
            left, gone = (no, yes) if yes.signal == "raise" else (yes, no)
            ev.store.write(left.layer)  # whoever has called goes on after this way alone
            keep(ev, made, gone.layer)
        else:
            ev.merge(guard, yes.layer, no.layer, is_elif=is_elif)
        return min(yes.signal, no.signal, key=_NEAREST.index)
    if yes.signal is not None or no.signal is not None:
        gone, left = (yes, no) if yes.signal is not None else (no, yes)
        ev.store.write(left.layer)
        keep(ev, made, gone.layer)
        ways.go_on(left is yes)
    else:
        ev.merge(guard, yes.layer, no.layer, yes.also, no.also, is_elif)
    return None


def keep(ev: Evaluator, made: int, gone: Layer) -> None:
    """Keep what the objects hold that were made on a way that has left: nothing behind it meets them, but what they did there
    is judged, as a whole training in an `if` that ends in `return`.

    Args:
        made: how many objects there were before.
    """
    ev.store.write({one.uid: gone[one.uid] for one in ev.objects[made:] if one.uid in gone})


def _way(ev: Evaluator, ways: Ways, outcome: bool) -> _Left:
    ev.store.push()
    with ev.inside("known", "guards", "records", nodes=[]):
        ways.assume(outcome)
        held = len(ev.guards)
        signal = ways.follow(outcome)
        return _Left(ev.nodes, signal, ev.store.pop(), ev.guards[held:])
