"""What a recording has seen of the models that were trained, their parameters and their optimizers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.model.values import Items, Op, Value
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.trace.measure import numbers
from trainlint.trace.measure.rates_ahead import stays_at_0
from trainlint.trace.watch.loose import loose
from trainlint.trace.watch.objects import dotted
from trainlint.trace.watch.optimizers import number, parameter_behind, parameters_of

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def survey(recorder: Recorder) -> list[object]:
    """Facts of every model, parameter and optimizer that lives."""
    looking = _Survey(recorder)
    looking.describe_optimizers()
    roots = recorder.models.all()
    for root in roots:
        recorder.objects.describe(root)
    modules = [
        replace(one, number=number) for number, root in enumerate(roots) for one in recorder.lives.seen(root)
    ]
    return [*looking.parameters(), *looking.optimizers(), *modules]


class _Survey:
    """Looks at everything once more."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._steps = recorder.steps
        self._models = recorder.models.all()

    def optimizers(self) -> list[OptimizerSeen]:
        """Every optimizer that lives."""
        belonging = {id(parameter) for root in self._models for parameter in root.parameters()}
        found = []
        for known, optimizer in self._steps.working():
            held = list(parameters_of(optimizer))
            devices = {
                value.device.type
                for state in optimizer.state.values()
                if isinstance(state, dict)
                for value in state.values()
                if isinstance(value, torch.Tensor) and value.dim() > 0
            }
            found.append(
                OptimizerSeen(
                    number=known.number,
                    type=dotted(type(optimizer)),
                    at=known.object.at,
                    step_at=known.step_at,
                    steps=known.steps,
                    learning_rates=tuple(number(group.get("lr")) for group in optimizer.param_groups),
                    base_rates=tuple(
                        number(group.get("initial_lr", group.get("lr"))) for group in optimizer.param_groups
                    ),
                    parameters=len(held),
                    elsewhere=sum(id(one) not in belonging for one in held),
                    skipped=known.skipped,
                    state_devices=tuple(sorted(devices)),
                    idle=known.idle,
                    before=known.before,
                    stays_at_0=any(map(stays_at_0, self._recorder.schedules.of(optimizer))),
                )
            )
        return found

    def parameters(self) -> list[ParameterSeen]:
        """Every parameter of every model, and what else an optimizer holds."""
        recorder, holders = self._recorder, self._holders()
        found = []
        for model, root in enumerate(self._models):
            modules = dict(root.named_modules())
            uses = Counter(id(one) for _, one in root.named_parameters(remove_duplicate=False))
            for name, one in root.named_parameters():
                path = name.rpartition(".")[0]
                holder = modules.get(path, root)
                made = recorder.objects.of(holder)
                seen = self._seen(one, name, holders.get(id(one), ()))
                found.append(
                    replace(
                        seen,
                        module=path,
                        module_type=made.type,
                        at=made.at or recorder.models.called_at(root),
                        order=recorder.lives.order_of(holder),
                        uses=uses[id(one)],
                        model=model,
                    )
                )
        alone = len(self._models)
        for name, other in loose(recorder):
            found.append(replace(self._seen(other, name, holders.get(id(other), ())), model=alone))
        return found

    def _holders(self) -> dict[int, tuple[int, ...]]:
        """Which optimizers hold each parameter."""
        found: dict[int, tuple[int, ...]] = {}
        for held, optimizer in self._steps.working():
            for one in parameters_of(optimizer):
                found[id(one)] = (*found.get(id(one), ()), held.number)
        return found

    def _seen(self, one: torch.Tensor, name: str, numbers_of: tuple[int, ...]) -> ParameterSeen:
        """A parameter by itself, whatever holds it."""
        known = self._steps.known(one)
        value = self._value_of(one)
        return ParameterSeen(
            name=name,
            module="",
            module_type="",
            at=value.at if isinstance(value, Op) else None,
            order=None,
            shape=tuple(one.shape),
            dtype=str(one.dtype).removeprefix("torch."),
            device=one.device.type,
            trainable=one.requires_grad
            or known.reached,  # or frozen just now, while the other network has its turn
            optimizers=numbers_of,
            stepped=known.stepped,
            start=known.start,
            gradient=known.gradient,
            expected=known.judged and self._steps.backwards > 0,
            update=known.update,
            unchanged=known.unchanged,
            rate=known.rate,
            moved=one.requires_grad
            and not numbers_of
            and known.start is not None
            and numbers.spread(one) != known.start,
            reached=known.reached or (not numbers_of and one.grad is not None),
            alive=known.alive
            or (not numbers_of and one.grad is not None and numbers.any_nonzero([one.grad])[0]),
            value=value,
            lost=known.lost,
            moving=known.moving,
            broken=known.broken,
        )

    def _value_of(self, parameter: torch.Tensor) -> Value | None:
        value = self._recorder.graph.known(parameter)
        if not isinstance(value, Op):
            return None
        return parameter_behind(value) or (value if parameter.is_leaf and not value.in_place else None)

    def describe_optimizers(self) -> None:
        """Fill in what each optimizer holds: whole modules where it holds all their parameters."""
        for known, optimizer in self._steps.working():
            if known.object.args:
                continue
            held = {id(one) for one in parameters_of(optimizer)}
            items: list[Value] = []
            covered: set[int] = set()
            for root in self._models:
                self._cover(root, held, items, covered)
            if held - covered:
                items.append(Op(name=PARAMETER, attached=True))
            known.object.args = (Items(items=items),)

    def _cover(self, module: torch.nn.Module, held: set[int], items: list[Value], covered: set[int]) -> None:
        inside = {id(one) for one in module.parameters() if one.requires_grad}
        if inside and inside <= held:
            made = self._recorder.objects.of(module)
            items.append(Op(name="parameters", inputs=(made,), attached=True))
            covered |= {id(one) for one in module.parameters()}
            return
        for child in module.children():
            self._cover(child, held, items, covered)
