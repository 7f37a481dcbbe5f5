"""What the constructor of an object froze that code out of sight has made: nothing else of that happens here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trainlint.facts.model import order
from trainlint.facts.model.events.modules import ModuleChanged, StateLoaded
from trainlint.facts.model.events.parameters import FrozenBefore, ParametersRead, RequiresGrad
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.values import constant

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator
    from trainlint.program.source import syntax as s

_SETS = frozenset(("requires_grad", "requires_grad_"))


def hand_on(ev: Evaluator, nodes: Sequence[Node], methods: Callable[[], Sequence[s.Function]]) -> None:
    """Note what a constructor froze, unless it also gave weights to what it made, or another method may unfreeze that."""
    done = list(order.events(nodes))
    frozen = [one for one in done if isinstance(one, RequiresGrad)]
    if not frozen or any(isinstance(one, (StateLoaded, ParametersRead, ModuleChanged)) for one in done):
        return
    if any(constant(one.wanted) is not False or one.guards for one in frozen):
        return
    if any(one.name != "__init__" and not _SETS.isdisjoint(one.names) for one in methods()):
        return
    here = ev.here
    for one in frozen:
        ev.nodes.append(
            FrozenBefore(
                at=one.at,
                calls=here.calls,
                loops=here.loops,
                guards=here.guards,
                target=one.target,
                wanted=one.wanted,
            )
        )
