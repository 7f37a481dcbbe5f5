"""Both ways of a branch, and what each leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.exclusive import HANDLER
from trainlint.facts.model.nodes import Branch, Exit
from trainlint.facts.model.values import Unknown, Value
from trainlint.program.evaluate import conditions, names, narrowing, patterns
from trainlint.program.evaluate.blocks import Signal, block, decided
from trainlint.program.evaluate.forking import Ways, fork, keep
from trainlint.program.evaluate.managers import trying
from trainlint.program.evaluate.once import taken
from trainlint.program.evaluate.store import Layer
from trainlint.program.source import shape
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def if_statement(ev: Evaluator, node: s.If, is_elif: bool = False) -> Signal:
    test = ev.expr(node.test)
    outcome = conditions.truth(test, ev.known)
    if shape.only_sets_mode(node) or (outcome is None and shape.is_main_guard(node.test)):
        outcome = True
    if outcome is not False and shape.restores_mode(node) and conditions.asks_mode(test):
        return _give_back(ev, node)
    if ev.loops and outcome and shape.is_lazy(node):
        outcome = None  # on the first iteration alone
    return _decide(ev, node, test, outcome, is_elif)


def _body(ev: Evaluator, node: s.If) -> Signal:
    """The first side of a branch. What `if self.best is None: self.best = ...` makes is made once, on the first iteration."""
    if not (ev.loops and shape.is_lazy(node)):
        return taken(ev, node)
    with ev.inside(loops=()):
        return taken(ev, node)


def _give_back(ev: Evaluator, node: s.If) -> Signal:
    """`if was_training: model.train()`: a module gets back the mode that it was in, whichever way it goes."""
    begun = len(ev.nodes)
    signal = decided(ev, node.body)
    for one in ev.nodes[begun:]:
        if isinstance(one, ModeChange):
            one.gives_back = True
    return signal


def _decide(ev: Evaluator, node: s.If, test: Value, outcome: bool | None, is_elif: bool) -> Signal:
    if outcome is not None:
        return _body(ev, node) if outcome else decided(ev, node.orelse)
    if not shape.names_version(node.test):
        return _fork(ev, node, test, is_elif)
    with ev.inside(asking=ev.here.asking + 1):
        return _fork(ev, node, test, is_elif)


def _fork(ev: Evaluator, node: s.If, test: Value, is_elif: bool) -> Signal:
    guard = conditions.guard(test)

    def way(outcome: bool) -> Signal:
        match (outcome, node.orelse):
            case (False, (s.If() as chained,)):
                ev.spend()
                return if_statement(ev, chained, is_elif=True)
        return _body(ev, node) if outcome else decided(ev, node.orelse)

    def assume(outcome: bool) -> None:
        ev.assume(conditions.implied(test, outcome, guard))
        narrowing.narrow(ev, node.test, outcome)

    def go_on(outcome: bool) -> None:
        ev.assume(conditions.implied(test, outcome, guard))

    return fork(ev, guard, conditions.varies(test), Ways(way, assume, go_on), is_elif)


def try_statement(ev: Evaluator, node: s.Try) -> Signal:
    made = len(ev.objects)
    ev.store.push()
    with trying(ev, 1):
        signal = block(ev, node.body)
    if signal is None:
        signal = block(ev, node.orelse)
    outcome = ev.store.pop()
    handled: list[tuple[conditions.Guard, Layer, Signal]] = []
    for handler in node.handlers:
        if handler.catches is not None:
            ev.expr(handler.catches)
        caught = Unknown(text="exception", loops=ev.loops)
        branch = Branch(None, ())
        condition = ("import fails" if shape.is_import_error(handler.catches) else HANDLER, caught.uid)
        ev.store.push()
        with ev.inside(nodes=branch.then, guards=(*ev.guards, (condition, True))):
            if handler.name is not None:
                names.bind(ev, handler.name, caught)
            left = block(ev, handler.body)
        handled.append(((condition, True), ev.store.pop(), left))
        ev.nodes.append(branch)
    ended = [signal, *(left for _, _, left in handled)]
    goes_on = None in ended
    for guard, layer, left in handled:
        if (
            left is None if goes_on else left != "raise"
        ):  # else what the caller sees of each way that has returned
            ev.store.push()
            ev.merge(guard, layer, outcome)
            outcome = ev.store.pop()
        else:
            keep(ev, made, layer)
    ev.store.write(outcome)
    left_by = ev.nodes.pop() if ev.nodes and isinstance(ev.nodes[-1], Exit) else None
    last = decided(ev, node.final)
    if left_by is not None:
        ev.nodes.append(left_by)
    if last is not None:
        return last
    return None if goes_on else signal


def match_statement(ev: Evaluator, node: s.Match) -> Signal:
    return _match(ev, node, ev.expr(node.subject), node.cases[: limits.BRANCHES])


def _match(
    ev: Evaluator, node: s.Match, subject: Value, cases: Sequence[s.Case], is_elif: bool = False
) -> Signal:
    """The first case or one behind it, where nobody can tell from its pattern."""
    if not cases:
        return None
    first, *others = cases

    def way(fits: bool) -> Signal:
        if not fits:
            ev.spend()
            return _match(ev, node, subject, others, is_elif=True)
        patterns.bind(ev, subject, first, node.at)
        return decided(ev, first.body)

    fits, test = patterns.fits(ev, subject, first, node.at)
    if first.guard is not None and fits:
        patterns.bind(ev, subject, first, node.at)
        test = ev.expr(first.guard)
        fits = conditions.truth(test, ev.known)
    if fits is not None:
        return way(fits)
    asked = test if test is not None else Unknown(text="pattern", loops=ev.loops)
    guard, varies = conditions.guard(asked), conditions.varies(subject)

    def assume(fits: bool) -> None:
        ev.assume(((guard[0], fits == guard[1]),))

    return fork(ev, guard, varies, Ways(way, assume, assume), is_elif)
