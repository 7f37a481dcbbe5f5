"""The last states of a recurrent layer, `[layers * directions, batch, features]`, that a view lays side by side."""

from __future__ import annotations

from trainlint.facts.ask.recurrent import recurrent_state
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Object, Op

from .axes import axis_of, sizes


def mixed_states(view: Op) -> int | None:
    """How many states of a recurrent layer a view mixes with those of other samples: `h.view(batch, -1)`, where the
    batch is axis 1; None where it keeps them apart."""
    call = recurrent_state(view.inputs[0]) if view.inputs else None
    if call is None or call.owner is None:
        return None
    if view.seen is not None:
        return _mixed_in_run(view)
    count, given = _states(call.owner), sizes(view)
    if count is None or count < 2 or len(given) != 2:
        return None
    rows, columns = axis_of(given[0]), number_of(given[1])
    if rows is not None and rows != (view.inputs[0].uid, 0) and columns == -1:
        return count
    width = number_of(call.owner.argument(1, "hidden_size"))
    if (
        isinstance(width, int)
        and columns == count * width
        and (rows is not None or number_of(given[0]) == -1)
    ):
        return count
    return None


def _mixed_in_run(view: Op) -> int | None:
    """The same from sizes alone, which tell only where there are more samples than states, or fewer."""
    given = view.inputs[0]
    before = given.seen.shape if isinstance(given, Op) and given.seen is not None else ()
    after = view.seen.shape if view.seen is not None else ()
    if len(before) != 3 or 1 in before[:2] or before[0] == before[1]:
        return None
    return before[0] if after == (before[1], before[0] * before[2]) else None


def _states(layer: Object) -> int | None:
    """How many states a layer gives for each sample; None where that is not known."""
    layers, both = layer.argument(2, "num_layers"), layer.argument(6, "bidirectional")
    number = 1 if layers is None else number_of(layers)
    twice = False if both is None else number_of(both)
    if layer.is_open or not isinstance(number, int) or not isinstance(twice, (bool, int)):
        return None
    return number * (2 if twice else 1)
