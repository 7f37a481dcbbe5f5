"""What every name and attribute holds at one moment, in layers so that a branch can be tried and merged."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Set
from contextlib import contextmanager
from itertools import islice
from typing import Any, Literal, NamedTuple

from trainlint.facts.model.values import Choice, Constant, Op, Table, Value, new_uid, one_of
from trainlint.program.evaluate import keys

Key = tuple[int, str]
Guard = tuple[object, bool]
Layer = dict[int, dict[str, Value]]
Changes = dict[Any, Any]
"""By value, what it holds; by key, what stands there or None."""
Kept = Literal["", "apart", "by all"]
"""Whether what an entry point makes is forgotten at its end, kept for those who ask for it, or known to all."""


class Left(NamedTuple):
    """What an entry point leaves: what it did to things that others have made, and what it made that is kept."""

    changes: Changes
    made: Layer


class Store:
    """Names of scopes and attributes of objects, both by the owner's number and the name."""

    def __init__(self) -> None:
        self._layers: list[Layer] = [{}]
        self._ever: set[Key] = set()
        """What was ever set: more than half of all questions are after what never was."""
        self.changes: Changes = {}
        """What the present entry point has done to things that others have made: how they were before."""
        self.filled: list[Table] = []
        """Dicts that an entry point has filled that had not made them; the latest last."""
        self.number = self._roots = 0
        """Of the present entry point, and of the last one that began."""
        self._since: list[int] = [0]
        """Numbers that values had when the work went on to another entry point, and which one that was."""
        self._whose: list[int] = [0]

    def get(self, key: Key) -> Value | None:
        if key not in self._ever:
            return None
        owner, name = key
        for layer in reversed(self._layers):
            held = layer.get(owner)
            if held is not None:
                found = held.get(name)
                if found is not None:
                    return found
        return None

    def set(self, key: Key, value: Value) -> None:
        if len(self._layers) == 1:
            self._note(*key)
        self._ever.add(key)
        self._layers[-1].setdefault(key[0], {})[key[1]] = value

    def push(self) -> None:
        self._layers.append({})

    def pop(self) -> Layer:
        return self._layers.pop()

    def write(self, layer: Layer) -> None:
        """Make what a branch left true."""
        top = self._layers[-1]
        for owner, held in layer.items():
            if len(self._layers) == 1:
                for name in held:
                    self._note(owner, name)
            if owner in top:
                top[owner].update(held)
            else:
                top[owner] = held

    def merge(
        self,
        guard: Guard | None,
        then: Layer,
        otherwise: Layer,
        then_also: tuple[Guard, ...] = (),
        otherwise_also: tuple[Guard, ...] = (),
        is_elif: bool = False,
    ) -> None:
        """Write what two branches left, each value as a choice where they differ.

        Args:
            is_elif: whether they are those of an `elif`. What only one of them binds is kept with its condition for the
                chain around it.
        """
        yes: tuple[Guard, ...] = (guard, *then_also) if guard else ()
        no: tuple[Guard, ...] = ((guard[0], not guard[1]), *otherwise_also) if guard else ()
        empty: dict[str, Value] = {}
        for owner in {**then, **otherwise}:
            left, right = then.get(owner, empty), otherwise.get(owner, empty)
            for name in {**left, **right}:
                before = self.get((owner, name))
                first, second = left.get(name, before), right.get(name, before)
                if first is None or second is None or first is second:
                    known = first or second
                    assert known is not None
                    if guard and is_elif and first is not second and not _is_read(owner, name, known):
                        known = _under(yes if second is None else no, known)
                    elif isinstance(known, Choice) and len(known.options) == 1:
                        known = known.options[0][1]
                    self.set((owner, name), known)
                elif _is_read(owner, name, first) and _is_read(owner, name, second):
                    self.set((owner, name), first)
                else:
                    self.set((owner, name), one_of(((yes, first), (no, second))))

    def owned(self, owner: int) -> dict[str, Value]:
        """Everything one owner holds."""
        found: dict[str, Value] = {}
        for layer in self._layers:
            found.update(layer.get(owner, {}))
        return found

    def forget(self, owner: int) -> None:
        """What a scope holds that nobody asks any more, as the present branch has it."""
        held = self._layers[-1].pop(owner, None)
        if held is not None:
            self._ever.difference_update([(owner, name) for name in held])

    # Entry points

    @contextmanager
    def root(self, kept: Kept, on: Layer | None = None) -> Iterator[Left]:
        """Work for another entry point, that sees nothing of what the present one has changed.

        What it does to things that it has not made is put back at the end; what it did is yielded. If something is kept,
        dicts of others that it has filled stay filled.

        Args:
            kept: what becomes of what it makes.
            on: what another entry point has made that was kept apart, to be seen too.
        """
        layers, root, changes, bottom = self._layers, self.number, self.changes, self._layers[0]
        before = len(bottom)
        self._swap(changes)
        self._layers = self._layers[:1] if on is None else [self._layers[0], on]
        if kept != "by all":
            self._layers.append({})
        self._turn(self._roots + 1)
        self._roots, self.changes = self.number, {}
        left = Left(self.changes, {})
        try:
            yield left
        finally:
            self._swap(self.changes)
            filled = self._fill(self.changes) if kept else False
            if kept == "by all":
                new = list(islice(reversed(bottom), max(len(bottom) - before, 0)))
                left.made.update(self._own({owner: bottom[owner] for owner in new}))
            elif kept == "apart":
                left.made.update(self._own(self._layers[-1]))
            if kept == "apart" and filled:  # others may come by what it has made
                self._layers[0].update(left.made)
                left.made.clear()
            elif not kept:
                self.drop(self._layers[-1])
            self._layers, self.changes = layers, changes
            self._turn(root)
            self._swap(changes)

    def _own(self, layer: Layer) -> Layer:
        """What the present entry point holds in a layer of things that it has made."""
        return {owner: held for owner, held in layer.items() if not self.is_foreign(owner)}

    def drop(self, layer: Layer) -> None:
        """Nobody asks any more for what was kept apart."""
        lower = self._layers[:-1] if layer is self._layers[-1] else self._layers
        for owner, held in layer.items():
            if not any(owner in one for one in lower):
                self._ever.difference_update([(owner, name) for name in held])

    def sweep(self, made: Layer, kept: Set[int]) -> None:
        """Forget what an entry point has made that all knew, but for what some owners hold."""
        for owner in made.keys() - kept:
            for name in self._layers[0].pop(owner, {}):
                self._ever.discard((owner, name))

    @contextmanager
    def as_left(self, changes: Changes) -> Iterator[None]:
        """Things as an entry point has left them."""
        self._swap(changes)
        try:
            yield
        finally:
            self._swap(changes)

    def touch(self, value: Value) -> None:
        """To be called before a value is changed in place."""
        if value not in self.changes and self.is_foreign(value.uid):
            self.changes[value] = _state(value)

    def _fill(self, changes: Changes) -> bool:
        before = len(self.filled)
        for one, left in changes.items():
            if isinstance(one, Table):
                new = {key: held for key, held in left["entries"].items() if one.entries.get(key) is not held}
                one.entries.update(new)
                if new:
                    self.filled.append(one)
        return len(self.filled) > before

    def root_of(self, value: Value) -> int:
        """The number of the entry point that has made a value."""
        return self._whose[bisect_right(self._since, value.uid) - 1]

    def _turn(self, root: int) -> None:
        self.number = root
        self._since.append(new_uid())
        self._whose.append(root)

    def is_foreign(self, owner: int) -> bool:
        """Whether another entry point than the present one has made something."""
        return owner < self._since[-1] and self._whose[bisect_right(self._since, owner) - 1] != self.number

    def _note(self, owner: int, name: str) -> None:
        """To be called before something in the bottom layer is changed."""
        if (owner, name) not in self.changes and self.is_foreign(owner):
            self.changes[owner, name] = self._layers[0].get(owner, {}).get(name)

    def _swap(self, changes: Changes) -> None:
        """Put things back as they were before changes, or again as they were after them."""
        bottom = self._layers[0]
        for one, state in changes.items():
            if isinstance(one, Value):
                changes[one] = _state(one)
                vars(one).update(state)
                continue
            owner, name = one
            held = bottom.setdefault(owner, {})
            changes[one] = held.get(name)
            if state is not None:
                held[name] = state
            else:
                held.pop(name, None)


def _state(value: Value) -> dict[str, Any]:
    """What a value holds, as it is now."""
    return {name: one.copy() if isinstance(one, (list, dict)) else one for name, one in vars(value).items()}


def _is_read(owner: int, name: str, value: Value) -> bool:
    """Whether a value is what was read of an owner that nobody has set in sight: the same on whichever way it is read."""
    match value:
        case Op(name="getattr", inputs=(of, *_), options={"name": Constant(value=read)}):
            return of.uid == owner and read == name
        case Op(name="getitem", inputs=(of, *_), options={"index": Constant(value=index)}):
            return of.uid == owner and name == keys.item(index)
    return keys.is_asked(name)


def _under(guards: tuple[Guard, ...], value: Value) -> Choice:
    """A value with the conditions under which a name is bound to it, and otherwise to nothing."""
    options = value.options if isinstance(value, Choice) else (((), value),)
    return Choice(tuple(((*guards, *more), one) for more, one in options))
