"""Arrays that NumPy makes of sizes: zeros, and random numbers."""

from __future__ import annotations

from trainlint.facts.model.values import Items, Op, Value

_GENERATORS = frozenset(f"numpy.random.{name}" for name in ("default_rng", "RandomState", "Generator"))
_RANDOM = "numpy.random."
_BY_AXES = frozenset(("rand", "randn"))
_SIZE_AT = {
    **dict.fromkeys("random random_sample standard_normal".split(), 0),
    **dict.fromkeys("exponential poisson".split(), 1),
    **dict.fromkeys("normal uniform integers randint binomial beta gamma laplace lognormal".split(), 2),
}
"""Which argument of what draws numbers is the size."""

_FILLED = frozenset(("numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full"))


def sizes_of_array(op: Op) -> Value | None:
    """The sizes of the axes of an array that NumPy makes, as they are given; None where it is something else, or has no axis."""
    if op.name in _FILLED:
        return op.option(0, "shape")
    drawn, given = _drawn(op)
    if drawn in _BY_AXES:
        return Items(items=list(given)) if given else None
    position = _SIZE_AT.get(drawn)
    if position is None:
        return None
    return op.options.get("size") or (given[position] if position < len(given) else None)


def _drawn(op: Op) -> tuple[str, tuple[Value, ...]]:
    """By which function numbers are drawn, and what it is given: of NumPy's own generator, or of one that the program made."""
    if op.name.startswith(_RANDOM):
        return op.name.removeprefix(_RANDOM), op.inputs
    by = op.inputs[0] if op.name in ("call", *_SIZE_AT) and op.inputs else None
    if isinstance(by, Op) and by.name in _GENERATORS:
        return op.text.removesuffix("(…)").rpartition(".")[2], op.inputs[1:]
    return "", ()
