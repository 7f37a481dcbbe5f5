"""The models of a run: what is called as a whole, inside the largest module that the program handles as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from trainlint.trace.module_calls import ModuleCalls


def models(calls: ModuleCalls) -> list[torch.nn.Module]:
    """The models that were called, each inside the largest model that the program handles as a whole."""
    called = [model for one in calls.roots.values() if (model := one()) is not None]
    named = [model for one in calls.named.values() if (model := one()) is not None]
    around = [one for one in named if any(_holds(one, inner) for inner in called)]
    candidates = {id(one): one for one in (*called, *around)}.values()
    return [
        one for one in candidates if not any(other is not one and _holds(other, one) for other in candidates)
    ]


def _holds(outer: torch.nn.Module, inner: torch.nn.Module) -> bool:
    return any(one is inner for one in outer.modules())
