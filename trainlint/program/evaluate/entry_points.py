"""The entry points of a program: module bodies first, then whatever functions nothing here calls.

A function is an entry point only if no other one calls it: what its callers hand it is known there. What an
earlier run knows of an entry point serves as well as evaluating it.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from trainlint.facts.ask.asking import Answers, answered_by
from trainlint.facts.model.training import Training
from trainlint.finding import Finding, Problem
from trainlint.program.evaluate.entering import Entering
from trainlint.program.evaluate.evaluator import Evaluator, Root
from trainlint.program.evaluate.unread import unread
from trainlint.program.evaluate.uses import Code
from trainlint.program.incremental.outcome import Defined, DefinedFunction, Entry, Outcome
from trainlint.program.incremental.results import Ledger
from trainlint.program.source.relevance import Relevance
from trainlint.reached import Reached, of_evaluator

Judge = Callable[[Training, dict[Reached, None]], Iterable[Finding]]


class Roots:
    """Goes through the entry points of some files, and keeps account of them."""

    def __init__(
        self, ev: Evaluator, paths: Iterable[str], known: Ledger, judge: Judge, problems: dict[Problem, None]
    ) -> None:
        self._ev = ev
        self._paths = list(paths)
        self._known = known
        self._judge = judge
        self._problems = problems
        self._entering = Entering(ev)
        self._reached: set[Code] = set()
        self.ledger = Ledger()
        """What is known now."""

    def findings(self) -> Iterator[Finding]:
        """What is found in all of them, in order. One that cannot be evaluated is a problem of its file."""
        for path in self._paths:
            yield from self._body(path)
        for path in self._paths:
            for number, cls in enumerate(self.ledger.defined[path].classes):
                if cls.needs_instance and (cls.init is None or cls.init.code not in self._reached):
                    yield from self._entered(("class", path, number), self._entering.make)
        outlines = self._ev.project.outlines
        relevance = Relevance(outlines.values())
        called = frozenset(name for path in self._paths for name in outlines[path].called)
        for is_called in (False, True):
            for path in self._paths:
                for number, function in enumerate(self.ledger.defined[path].functions):
                    if (
                        (function.name in called) is is_called
                        and function.code not in self._reached
                        and self._trains(path, function, relevance)
                    ):
                        yield from self._entered(("function", path, number), self._entering.call)

    def fills_late(self) -> bool:
        """Whether anything but the body of a file has filled a dict of another file's."""
        return any(one.fills for (kind, _, _), one in self.ledger.outcomes.items() if kind != "program")

    def saw_all_dicts(self) -> bool:
        """Whether dicts that files fill for each other were seen as full as they would be if nothing was known."""
        bodies = dict(self.ledger.bodies())
        filled = self.ledger.filled_by(bodies.keys())
        known = {path for path, _ in self._known.bodies()}
        filled_anew = self.ledger.filled_by(bodies.keys() - known)
        relied_on = {table for one in self._known.outcomes.values() for table in one.tables}
        return filled.isdisjoint(self._ev.tables) and filled_anew.isdisjoint(relied_on)

    def _body(self, path: str) -> Iterator[Finding]:
        outcome, defined = self._known.outcomes.get(("program", path, 0)), self._known.defined.get(path)
        if outcome is None or defined is None:
            defined = Defined((), ())
            with _caught(path, self._problems):
                self._entering.body(path)
                defined = self._entering.defined(path)
            outcome = self._judged("program", path, self._ev.bodies[path])
        self.ledger.defined[path] = defined
        yield from self._noted(("program", path, 0), outcome)

    def _trains(self, path: str, function: DefinedFunction, relevance: Relevance) -> bool:
        if relevance.trains(function.name, function.names):
            return True
        init = self.ledger.defined[path].classes[function.owner].init if function.owner is not None else None
        return init is not None and relevance.trains("__init__", init.names)

    def _entered(self, entry: Entry, enter: Callable[[str, int], Root]) -> Iterator[Finding]:
        kind, path, number = entry
        outcome = self._known.outcomes.get(entry)
        if outcome is None:
            with _caught(path, self._problems):
                outcome = self._judged(kind, path, enter(path, number), self._name(entry))
        if outcome is not None:
            yield from self._noted(entry, outcome)

    def _name(self, entry: Entry) -> str:
        """An entry point as people name it."""
        kind, path, number = entry
        defined = self.ledger.defined[path]
        if kind == "class":
            return defined.classes[number].name
        function = defined.functions[number]
        return (
            function.name
            if function.owner is None
            else f"{defined.classes[function.owner].name}.{function.name}"
        )

    def _judged(self, kind: str, path: str, root: Root, name: str = "") -> Outcome:
        with self._ev.store.as_left(root.changes):
            self._ev.trace = root.trace  # what is asked of the classes of its objects, it follows from too
            with answered_by(Answers()):
                lost = tuple(unread(self._ev, root.objects))
            limited = {of_evaluator(path, name, one): None for one in sorted(root.trace.limits)}
            is_test = kind != "program" and _is_test(path)
            training = Training(path, kind, root.nodes, tuple(root.objects), lost, is_test, name)
            findings = tuple(self._judge(training, limited))
        trace = root.trace
        return Outcome(
            findings,
            frozenset(trace.uses),
            frozenset(trace.lists),
            frozenset(trace.reached),
            frozenset(trace.tables),
            frozenset(trace.fills),
            tuple(limited),
        )

    def _noted(self, entry: Entry, outcome: Outcome) -> tuple[Finding, ...]:
        self._reached |= outcome.reached
        self.ledger.outcomes[entry] = outcome
        return outcome.findings


def _is_test(path: str) -> bool:
    """Whether pytest and unittest take a file for tests, by its name."""
    file = path.replace("\\", "/").rpartition("/")[2]
    return file.startswith("test_") or file.endswith("_test.py")


@contextmanager
def _caught(path: str, problems: dict[Problem, None]) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        problems[Problem(path, None, "nested too deeply to be followed")] = None
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = (
            f"cannot be followed, which is a bug in trainlint: {error!r} ({where.name}, line {where.lineno})"
        )
        problems[Problem(path, None, said[:300])] = None
