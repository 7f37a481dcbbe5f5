"""The entry points of a program: module bodies first, then whatever functions nothing here calls.

A function is an entry point only if no other one calls it: what its callers hand it is known there. What an
earlier run knows of an entry point serves as well as evaluating it.
"""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property

from trainlint import limits
from trainlint.facts.api.losses import is_named_loss
from trainlint.facts.ask.asking import Answers, answered_by
from trainlint.facts.ask.concerned import concerned
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object
from trainlint.finding import Finding, Problem
from trainlint.program.evaluate.collecting import collected
from trainlint.program.evaluate.entering import Entering
from trainlint.program.evaluate.evaluator import Evaluator
from trainlint.program.evaluate.handing_on import hand_masks_on
from trainlint.program.evaluate.roots import Root
from trainlint.program.evaluate.unread import harmless_containers, unread
from trainlint.program.evaluate.uses import Code
from trainlint.program.incremental.helpers import Helpers, Known, NotAlone, helpers
from trainlint.program.incremental.outcome import Defined, DefinedFunction, Entry, Outcome, Sharing, Turn
from trainlint.program.incremental.results import Ledger
from trainlint.program.source.relevance import Relevance
from trainlint.reached import Reached, of_evaluator, of_stranger

_TEST_CASES = ("unittest.TestCase", "unittest.IsolatedAsyncioTestCase")

_CUTS = frozenset(("PROGRAM_STEPS", "PART_STEPS"))
"""Limits beyond which later calls are not followed."""

Judge = Callable[[Training, dict[Reached, None]], Iterable[Finding]]


class Roots:
    """Goes through the entry points of some files, and keeps account of them.

    Args:
        copies: how many other processes evaluate some of them, so that they are known when it is their turn.
        entered: files whose classes and functions are entered; None for all. Bodies are evaluated of all.
    """

    def __init__(
        self,
        ev: Evaluator,
        paths: Iterable[str],
        known: Ledger,
        judge: Judge,
        problems: dict[Problem, None],
        copies: int = 0,
        entered: frozenset[str] | None = None,
    ) -> None:
        self._ev = ev
        self._paths = list(paths)
        self._entered = [path for path in self._paths if entered is None or path in entered]
        self._known = known
        self._judge = judge
        self._problems = problems
        self._copies = copies
        self._entering = Entering(ev)
        self._taken = Known(set(), set())
        self._sharing = Sharing()
        self.ledger = Ledger()
        """What is known now."""

    def findings(self) -> Iterator[Finding]:
        """What is found in all of them. One that cannot be evaluated is a problem of its file.

        They are gone through by file and name: where a function stands in its file must not matter.
        """
        yield from self._bodies()
        turns = list(self._turns())
        with collected(len(turns) > limits.MANY_ENTRIES, self._ev.forget_code) as collect:
            yield from self._in_turn(turns, collect)

    def _bodies(self) -> Iterator[Finding]:
        with collected(len(self._paths) > limits.MANY_FILES, self._ev.forget_code) as collect:
            for path in self._paths:
                yield from self._body(path)
                collect()

    def _in_turn(self, turns: list[Turn], collect: Callable[[], None]) -> Iterator[Finding]:
        def work(entry: Entry) -> Outcome | None:
            outcome = self._plain(entry)
            collect()
            return outcome

        left, copies, times = deque(turns), self._copies, 0
        while left:
            with (
                helpers(copies, work, tuple(left), self._taken) if copies else nullcontext() as ahead,
                suppress(NotAlone),
            ):
                while left:
                    yield from self._turn(left[0], ahead)
                    left.popleft()
                    collect()
            if left:  # the first leaves something that copies have to know of
                yield from self._turn(left.popleft(), None)
                collect()
            times += 1
            copies = copies if times <= limits.COPIED_AGAIN else 0

    def _turn(self, turn: Turn, ahead: Helpers | None) -> Iterator[Finding]:
        if not self._taken.passes_over(turn):
            yield from self._outcome(turn.entry, ahead)
            self._taken.entered.add(turn.code)

    def _turns(self) -> Iterator[Turn]:
        for path in self._entered:
            for entry in self._by_name("class", path):
                cls = self.ledger.defined[path].classes[entry[2]]
                if cls.needs_instance:
                    yield Turn(entry, cls.init.code if cls.init is not None else None)
        outlines = self._ev.project.outlines
        relevance = Relevance(outlines)
        called = frozenset(name for path in self._paths for name in outlines[path].called)
        overruled = _as_inherited(self._paths, self.ledger.defined)
        for times in range(3):  # what their own files call comes after its callers
            for path in self._entered:
                own = outlines[path].called
                for entry in self._by_name("function", path):
                    function = self.ledger.defined[path].functions[entry[2]]
                    if entry in overruled or (function.name in called) + (function.name in own) != times:
                        continue
                    if self._trains(path, function, relevance):
                        yield Turn(entry, function.code)

    def _by_name(self, kind: str, path: str) -> list[Entry]:
        """The classes, or the functions, that a file defines."""
        defined = self.ledger.defined[path]
        count = len(defined.classes if kind == "class" else defined.functions)
        return sorted(((kind, path, number) for number in range(count)), key=self._name)

    def fills_late(self) -> bool:
        """Whether anything but the body of a file has filled a dict of another file's."""
        return any(one.fills for (kind, _, _), one in self.ledger.outcomes.items() if kind != "program")

    def saw_all_dicts(self) -> bool:
        """Whether dicts that files fill for each other were seen as full as they would be if nothing was known."""
        filled = self.ledger.filled_by(self.ledger.defined.keys())
        relied_on = {table for one in self._known.outcomes.values() for table in one.tables}
        return filled.isdisjoint(self._ev.tables) and self.filled_anew().isdisjoint(relied_on)

    def filled_anew(self) -> set[str]:
        """Dicts that bodies have filled that were not known."""
        known = {path for path, _ in self._known.bodies()}
        return self.ledger.filled_by(self.ledger.defined.keys() - known)

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
        if relevance.trains(function.code, function.name, function.names):
            return True
        owner = self.ledger.defined[path].classes[function.owner] if function.owner is not None else None
        if is_named_loss(function.name, owner.name if owner is not None else None):
            return True
        if owner is None:
            return False
        if function.name == "forward" and (path, owner.name) in self._handing:
            return True
        return owner.init is not None and relevance.trains(owner.init.code, "__init__", owner.init.names)

    @cached_property
    def _handing(self) -> frozenset[tuple[str, str]]:
        """Known once the bodies of all files have been evaluated."""
        return hand_masks_on(self.ledger.defined)

    def _outcome(self, entry: Entry, ahead: Helpers | None) -> Iterator[Finding]:
        outcome = self._known.outcomes.get(entry)
        if outcome is None and ahead is not None:
            outcome = ahead.outcome(entry)
        if outcome is None:
            outcome = self._evaluated(entry)
        if outcome is not None:
            yield from self._noted(entry, outcome)

    def _evaluated(self, entry: Entry) -> Outcome | None:
        kind, path, number = entry
        enter = self._entering.make if kind == "class" else self._entering.call
        with _caught(path, self._problems):
            strangers = self._entering.strangers(path, number) if kind == "function" else ()
            return self._judged(kind, path, enter(path, number), self._name(entry), strangers)
        return None

    def _plain(self, entry: Entry) -> Outcome | None:
        """What an entry point leads to, if nothing else follows from it."""
        before = len(self._problems)
        outcome = self._evaluated(entry)
        is_plain = outcome is not None and not outcome.fills and len(self._problems) == before
        return outcome if is_plain else None

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

    def _judged(
        self, kind: str, path: str, root: Root, name: str = "", strangers: tuple[str, ...] = ()
    ) -> Outcome:
        with self._ev.store.as_left(root.changes):
            # what is asked of the classes of its objects, it follows from too
            self._ev.work.trace = root.trace
            with answered_by(Answers()):
                lost = tuple(unread(self._ev, root.objects, root.nodes))
                harmless = harmless_containers(self._ev, root.objects)
            limited = {of_evaluator(path, name, one): None for one in sorted(root.trace.limits)}
            is_test = kind != "program" and (_is_test(path) or _is_of_test_case(root.objects))
            is_cut = not _CUTS.isdisjoint(root.trace.limits)
            training = Training(
                path,
                kind,
                root.nodes,
                tuple(root.objects),
                lost,
                harmless,
                is_test,
                name,
                is_cut,
                root.earlier,
            )
            findings = tuple(self._judge(training, limited))
            if strangers and not any(any(concerned(one)) for one in training.events(Event)):
                limited[of_stranger(path, name, strangers)] = None
            if kind == "program" and len(self._paths) > limits.MANY_FILES:
                self._ev.sweep(path)
        root.release()
        trace = root.trace
        return Outcome(
            findings,
            frozenset(trace.uses),
            frozenset(trace.lists),
            frozenset(trace.reached),
            frozenset(trace.code),
            frozenset(trace.asked),
            frozenset(trace.tables),
            frozenset(trace.fills),
            tuple(limited),
        )

    def _noted(self, entry: Entry, outcome: Outcome) -> tuple[Finding, ...]:
        outcome = self._sharing.shared(outcome)
        self._taken.reached.update(outcome.reached)
        self.ledger.outcomes[entry] = outcome
        return outcome.findings


def _as_inherited(paths: Iterable[str], defined: Mapping[str, Defined]) -> frozenset[Entry]:
    """Methods of which the first subclasses are entered, the methods of the base class itself and those of all others."""
    entries: dict[Code, list[Entry]] = {}
    for path in paths:
        for number, function in enumerate(defined[path].functions):
            entries.setdefault(function.code, []).append(("function", path, number))
    left_out: list[Entry] = []
    for (file, _), found in entries.items():
        if len(found) > 1:
            own = [one for one in found if one[1] == file][:1]
            left_out += own + [one for one in found if one not in own][limits.SUBCLASSES :]
    return frozenset(left_out)


def _is_test(path: str) -> bool:
    """Whether pytest and unittest take a file for tests, by its name."""
    file = path.replace("\\", "/").rpartition("/")[2]
    return file.startswith("test_") or file.endswith("_test.py")


def _is_of_test_case(objects: Iterable[Object]) -> bool:
    """Whether the object whose method is entered is a test of unittest, whatever the file is called."""
    return any(one.is_a(*_TEST_CASES) for one in objects)


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
