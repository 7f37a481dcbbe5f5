"""Parameters from input to output."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.seen.parameters import ParameterSeen


def in_order(held: Sequence[ParameterSeen]) -> list[ParameterSeen]:
    """By model, and by the first call of the module that holds each. A module that is not called itself, and whose weights
    another one uses, stands with the nearest one around it; what nothing uses comes last."""
    calls = {(one.model, one.module): one.order for one in held if one.order is not None}
    last = len(held) + max(calls.values(), default=0)

    def place(one: ParameterSeen) -> tuple[int, int]:
        path = one.module
        while (one.model, path) not in calls and path and one.gradient is not None:
            path = path.rpartition(".")[0]
        return one.model, calls.get((one.model, path), last)

    return sorted(held, key=place)
