"""Ways from the losses of a recorded run down to parameters, and where they end."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Op, Value

_MOST_VALUES = 200_000


class Ways:
    """The values that recorded losses are made of, each with what is made of it."""

    def __init__(self, losses: Iterable[Value]) -> None:
        self._losses = list(losses)
        self._made_of_it: dict[int, list[Value]] = {}
        pending = list(self._losses)
        seen = {one.uid for one in pending}
        while pending and len(seen) < _MOST_VALUES:
            value = pending.pop()
            for part in value.parts():
                self._made_of_it.setdefault(part.uid, []).append(value)
                if part.uid not in seen:
                    seen.add(part.uid)
                    pending.append(part)

    def above(self, values: Iterable[Value]) -> set[int]:
        """Numbers of everything that is made of these values, themselves included."""
        pending = [one.uid for one in values]
        seen = set(pending)
        while pending:
            for one in self._made_of_it.get(pending.pop(), ()):
                if one.uid not in seen:
                    seen.add(one.uid)
                    pending.append(one.uid)
        return seen

    def between(self, values: Iterable[Value]) -> list[Op]:
        """Every operation on a way from a loss to these values, the ones nearest the loss first."""
        above = self.above(values)
        pending: list[Value] = [one for one in self._losses if one.uid in above]
        seen = {one.uid for one in pending}
        found: list[Op] = []
        for value in pending:
            if isinstance(value, Op):
                found.append(value)
            for part in value.parts():
                if part.uid in above and part.uid not in seen:
                    seen.add(part.uid)
                    pending.append(part)
        return found

    def reaches(self, values: Iterable[Value]) -> bool:
        """Whether a gradient gets from a loss to one of these values."""
        wanted = {one.uid for one in values}
        found = reached(self._losses, lambda one: () if _is_cut(one) else one.parts(), _MOST_VALUES)
        return any(one.uid in wanted for one in found)

    def cut(self, values: Iterable[Value]) -> Op | None:
        """The operation at which the gradient's way to these values ends, nearest the loss; None where none is known."""
        wanted = list(values)
        between = self.between(wanted)
        on_the_way = {one.uid for one in between}
        carrying = [one.uid for one in wanted]
        seen = set(carrying)
        ends: set[int] = set()
        while carrying:
            for one in self._consumers(carrying.pop()):
                if one.uid in seen or one.uid not in on_the_way:
                    continue
                seen.add(one.uid)
                if _is_cut(one):
                    ends.add(one.uid)
                else:
                    carrying.append(one.uid)
        found = next((one for one in between if one.uid in ends and one.at is not None), None)
        return self._end(found) if found is not None and found.records is False else found

    def _consumers(self, number: int) -> list[Op]:
        """The operations that a value goes into, by itself or in a list."""
        pending = list(self._made_of_it.get(number, ()))
        found: list[Op] = []
        for one in pending:
            if isinstance(one, Op):
                found.append(one)
            else:
                pending.extend(self._made_of_it.get(one.uid, ()))
        return found

    def _end(self, op: Op) -> Op:
        """The last of the operations that autograd did not record, from one of them on."""
        for _ in range(_MOST_VALUES):
            after = [
                one
                for one in self._made_of_it.get(op.uid, ())
                if isinstance(one, Op) and one.records is False and one.at is not None
            ]
            if not after:
                break
            op = after[0]
        return op


def _is_cut(value: Value) -> bool:
    return isinstance(value, Op) and value.attached is False


def ways(run: Recorded) -> Ways:
    return Ways(event.loss for event in run.events(Backward))
