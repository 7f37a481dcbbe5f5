"""What every name and attribute holds at one moment, in layers so that a branch can be tried and merged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trainlint.facts.values import Value, one_of

Key = tuple[int, str]
Guard = tuple[object, bool]
Layer = dict[int, dict[str, Value]]


class Store:
    """Names of scopes and attributes of objects, both by the owner's number and the name."""

    def __init__(self) -> None:
        self._layers: list[Layer] = [{}]

    def get(self, key: Key) -> Value | None:
        owner, name = key
        for layer in reversed(self._layers):
            held = layer.get(owner)
            if held is not None and name in held:
                return held[name]
        return None

    def set(self, key: Key, value: Value) -> None:
        self._layers[-1].setdefault(key[0], {})[key[1]] = value

    def push(self) -> None:
        self._layers.append({})

    def pop(self) -> Layer:
        return self._layers.pop()

    def write(self, layer: Layer) -> None:
        """Make what a branch left true."""
        top = self._layers[-1]
        for owner, held in layer.items():
            if owner in top:
                top[owner].update(held)
            else:
                top[owner] = held

    def merge(self, guard: Guard | None, then: Layer, otherwise: Layer) -> None:
        """Write what two branches left, each value as a choice where they differ."""
        yes: tuple[Guard, ...] = (guard,) if guard else ()
        no: tuple[Guard, ...] = ((guard[0], not guard[1]),) if guard else ()
        empty: dict[str, Value] = {}
        for owner in {**then, **otherwise}:
            left, right = then.get(owner, empty), otherwise.get(owner, empty)
            for name in {**left, **right}:
                before = self.get((owner, name))
                first, second = left.get(name, before), right.get(name, before)
                if first is None or second is None or first is second:
                    known = first or second
                    assert known is not None
                    self.set((owner, name), known)
                else:
                    self.set((owner, name), one_of(((yes, first), (no, second))))

    def owned(self, owner: int) -> dict[str, Value]:
        """Everything one owner holds."""
        found: dict[str, Value] = {}
        for layer in self._layers:
            found.update(layer.get(owner, {}))
        return found

    @contextmanager
    def layer(self) -> Iterator[None]:
        """Work on a new layer that is forgotten afterwards, with whatever else was left open on it."""
        depth = len(self._layers)
        self.push()
        try:
            yield
        finally:
            del self._layers[depth:]

    @contextmanager
    def at_base(self) -> Iterator[None]:
        """Work on the bottom layer, whatever branch is being tried."""
        above, self._layers = self._layers, self._layers[:1]
        try:
            yield
        finally:
            self._layers = above
