"""The optimizers of a run, what each step used and changed, and when enough has been seen."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.values import Constant
from trainlint.facts.seen.blind_spots import Elsewhere
from trainlint.finding import Place
from trainlint.trace.measure import numbers
from trainlint.trace.measure.own_optimizers import beside_state
from trainlint.trace.measure.survey import survey
from trainlint.trace.watch.ahead import unbuilt
from trainlint.trace.watch.broken_gradients import note_broken
from trainlint.trace.watch.by_hand import ByHand
from trainlint.trace.watch.loose import loose, names_in
from trainlint.trace.watch.losses import note_value
from trainlint.trace.watch.objects import dotted
from trainlint.trace.watch.optimizers import (
    Optimizer,
    Parameter,
    checksums,
    innermost,
    number,
    parameters_of,
)
from trainlint.trace.watch.step_under_way import StepUnderWay

if TYPE_CHECKING:
    from trainlint.trace.watch.phases import Phases
    from trainlint.trace.watch.recorder import Recorder

_PATIENCE = 20
"""Steps of one optimizer to wait for the others, and of those that one place makes to wait for a second of one."""

_DECOUPLED = ("torch.optim.AdamW", "torch.optim.NAdam", "torch.optim.RAdam")


class Steps:
    """Follows every optimizer, and ends the recording when each has been seen."""

    def __init__(self, recorder: Recorder, wanted: int, max_wait: int, phases: Phases) -> None:
        self._recorder = recorder
        self._wanted = wanted
        self._max_wait = max_wait
        self._phases = phases
        self.optimizers: dict[int, Optimizer] = {}
        self.parameters: dict[int, Parameter] = {}
        self.inside = False
        """Whether an optimizer is stepping now."""
        self._stepping: dict[int, int] = {}
        """Optimizers that are stepping, and how many steps each, or the one inside it, had taken before."""
        self.under_way = StepUnderWay(recorder)
        self.backwards = 0
        self.forwards = 0
        self.unrecorded = 0
        """Calls of models without gradients."""
        self.by_hand = ByHand(recorder)
        self._last_of_all: Optimizer | None = None
        self.surveyed: list[object] = []
        """What a survey has found after a step, the 1st, 2nd, 4th, ...: a program may let go of it all before it ends."""
        self._samples: dict[int, tuple[torch.Tensor, float]] = {}
        self._steps_by_place: Counter[Place | None] = Counter()
        """How often an optimizer that was built at a place has stepped, for those that are built anew each time."""

    @property
    def done(self) -> int:
        """How many steps the optimizer that has stepped most has taken."""
        return max((one.steps for one in self.optimizers.values()), default=0)

    @property
    def before(self) -> int:
        """How many steps went before the recording."""
        held = (one.before for one in self.optimizers.values())
        return max(held, default=self._recorder.steps_before)

    @property
    def awaits_next(self) -> bool:
        """Whether one phase is over and the next has not begun."""
        return self._phases.awaits_next

    # Optimizers

    def working(self) -> list[tuple[Optimizer, torch.optim.Optimizer]]:
        """Every optimizer that lives and does not only stand around another."""
        return [
            (known, optimizer)
            for known in self.optimizers.values()
            if (optimizer := known.optimizer()) is not None and innermost(optimizer) is optimizer
        ]

    def optimizer_made(self, optimizer: torch.optim.Optimizer, frame: FrameType | None) -> None:
        recorder = self._recorder
        if self._phases.awaits_next:
            self._begin_again()
        place = recorder.at(frame)
        made = recorder.objects.made(optimizer, place)
        known = self.optimizers[id(optimizer)] = Optimizer(optimizer, made, len(self.optimizers))
        known.names = names_in(frame, {id(one) for one in parameters_of(optimizer)})
        recorder.emit(Built, frame, made, object=made)
        recorder.phase("the first backward pass")

    def of(self, optimizer: torch.optim.Optimizer) -> Optimizer:
        """What is known of an optimizer; of the one inside, where it only stands around another."""
        optimizer = innermost(optimizer)
        found = self.optimizers.get(id(optimizer))
        if found is None or found.optimizer() is not optimizer:
            made = self._recorder.objects.of(optimizer)
            found = Optimizer(optimizer, made, len(self.optimizers), self._recorder.steps_before)
            self.optimizers[id(optimizer)] = found
        return found

    def before_step(self, optimizer: torch.optim.Optimizer, has_closure: bool) -> None:
        """An optimizer is about to step: the recording ends here, once all is recorded."""
        recorder = self._recorder
        known = self.of(optimizer)
        if known.steps and known.seen_between:
            self._judge(known)
        self._stepping[id(optimizer)] = known.steps
        with recorder.aside():
            recorder.ranks.before_step(optimizer, has_closure)
        self.inside = True
        self.under_way.begins()
        if self._phases.awaits_next and known.number not in self._phases.over:
            self._begin_again()
        if self._phases.has_waited:
            recorder.end("recorded")
            return
        if self._is_complete(known):
            if self._phase_ends():
                return
            if not has_closure:
                recorder.end("recorded")
            self._last_of_all = known  # its closure clears gradients, or not, before it computes new ones
            return
        if known.steps < self._wanted:
            with recorder.aside():
                if not known.steps and not known.before and recorder.is_own_class(type(optimizer)):
                    known.began = beside_state(optimizer)
                self._survey()
                if not has_closure:
                    self._look_at_gradients(optimizer)
                self._keep_samples(optimizer)

    def after_step(self, optimizer: torch.optim.Optimizer, has_closure: bool) -> None:
        recorder = self._recorder
        known = self.of(optimizer)
        began = self._stepping.pop(id(optimizer), known.steps)
        self.inside = bool(self._stepping)
        if known.steps > began:
            return  # the one inside has stepped and was heard
        if self._last_of_all is known:  # its closure has computed nothing, as that of a framework
            recorder.end("recorded")
            return
        if not self.under_way.is_noted:
            self.under_way.note(known, recorder.frame(3))
        with recorder.aside():
            if known.steps < self._wanted:
                if has_closure:
                    self._look_at_gradients(optimizer)
                self._compare(optimizer)
            if known.steps == 0:
                known.idle = sum(one.grad is None for one in parameters_of(optimizer))
            if has_closure and known.steps and known.seen_between:
                self._judge(known)  # it has computed its gradients inside the step
            known.checksums = checksums(parameters_of(optimizer))
        known.steps += 1
        if self._phases.skips_step():
            self._begin_again()
            return
        recorder.clock.stepped(known.number, known.step_at)
        self._steps_by_place[known.object.at] += 1
        known.cleared, known.left, known.seen_between = None, {}, False
        if known.steps.bit_count() == 1:
            with recorder.aside():
                self.surveyed = survey(recorder)
        is_alone = self._steps_by_place[known.object.at] >= self._wanted + _PATIENCE
        if is_alone and not self._phases.awaits_next and not self._phase_ends():
            recorder.end("recorded")
        recorder.phase("the gradients of the next iteration")

    def settle(self, parameters: Sequence[torch.Tensor]) -> None:
        """Something is done with gradients: where a step of one of torch's optimizers has used them already, as in a hook
        behind it, that comes first."""
        if self._recorder.within_torch and len(self._stepping) == 1 and not self.under_way.is_noted:
            (number,) = self._stepping
            if number in self.optimizers:
                with self._recorder.aside():
                    self.under_way.settle(self.optimizers[number], parameters, self._samples)

    def _phase_ends(self) -> bool:
        """Whether another phase is to be waited for, now that all of this one is recorded."""
        recorder, phases = self._recorder, self._phases
        built = [known.object.at for known in self.optimizers.values()]
        site = None
        if phases.wants_each:
            site = unbuilt(
                recorder.frame(), recorder.own, built, rounds_differ=recorder.models.are_partly_frozen()
            )
        ended = {known.number for known in self.optimizers.values() if known.steps}
        ends = phases.ends(ended, has_next=site is not None)
        if ends and site is not None:
            recorder.phase_over(site)
        return ends

    def _begin_again(self) -> None:
        """Nothing that has happened so far is a part of the recording."""
        self._phases.awaits_next = False
        for known in self.optimizers.values():
            known.begin_again()
        self.parameters.clear()
        self._samples.clear()
        self._steps_by_place.clear()
        self.surveyed = []
        self.backwards = self.forwards = self.unrecorded = 0
        self.by_hand = ByHand(self._recorder)
        self._last_of_all = None
        self._recorder.forget()

    def _is_complete(self, next_to_step: Optimizer) -> bool:
        """Whether every optimizer has stepped as often as was asked for, and what it left has been judged."""
        if next_to_step.steps < self._wanted:
            return False
        if next_to_step.number in self._phases.over:
            return False
        alive = [
            known
            for known, optimizer in self.working()
            if _trains(optimizer) and known.number not in self._phases.over
        ]
        return all(one is next_to_step or one.steps > self._wanted for one in alive)

    # Gradients

    def before_backward(
        self, losses: Sequence[Any], frame: FrameType | None, retains: bool | None = None
    ) -> None:
        """Gradients are about to be computed. Ends the recording where nothing more can be waited for."""
        recorder = self._recorder
        with recorder.aside():
            self.by_hand.before_backward()
        if self.by_hand.updates > self._wanted and not self.done:
            recorder.end("recorded")
            return
        if self.backwards >= self._max_wait and not self.done:
            recorder.end("waited")
            return
        self.backwards += 1
        recorder.operations.since_backward = 0
        if self.backwards == 1:
            recorder.phase("the first optimizer step")
        for loss in losses:
            if isinstance(loss, torch.Tensor):
                value = recorder.graph.of(loss)
                note_value(value, loss)
                told = Constant(value=retains) if retains is not None else None
                event = recorder.emit(Backward, frame, None, loss=value, accumulates=True, retains=told)
                recorder.losses.run_back(value, event.at if event is not None else None)
        with recorder.aside():
            for known in self.optimizers.values():
                if known.checksums or known.steps:
                    self._notice_clearing(known)
        if self._last_of_all is not None:
            self._judge(self._last_of_all)
            recorder.end("recorded")

    def backward_unheard(self) -> None:
        """A backward pass that does not belong to the recording: worth a word if another thread does it."""
        if self._recorder.is_on and self._recorder.is_in_another_thread:
            name = threading.current_thread().name
            self._recorder.fact(Elsewhere(name), name)

    def after_backward(self) -> None:
        self._recorder.clock.computed_gradients()
        self._recorder.clipping.begin_again()
        with self._recorder.aside():
            self._see_who_was_reached()
            self.by_hand.after_backward()
            for known in self.optimizers.values():
                optimizer = known.optimizer()
                if optimizer is None:
                    continue
                sums = checksums(parameters_of(optimizer))
                note_broken(self, optimizer, sums)
                if known.steps:
                    known.checksums, known.seen_between = sums, True

    def _see_who_was_reached(self) -> None:
        """Which parameters this backward gave a gradient, and which of them more than zeros."""
        waiting = [
            (self.known(one), one.grad)
            for _, optimizer in self.working()
            for one in parameters_of(optimizer)
            if one.grad is not None and not self.known(one).alive
        ]
        found = numbers.any_nonzero([gradient for _, gradient in waiting if gradient is not None])
        for (parameter, _), alive in zip(waiting, found, strict=True):
            parameter.reached, parameter.alive = True, alive

    def _notice_clearing(self, known: Optimizer) -> None:
        """Compare gradients with what they were after the last step or backward: if they differ, they were cleared."""
        optimizer = known.optimizer()
        if optimizer is None or not known.checksums:
            return
        now = checksums(parameters_of(optimizer))
        held = {key: value for key, value in known.checksums.items() if value}
        left = [key for key, value in held.items() if now.get(key) == value]
        if not held:
            return
        if len(left) < len(held):
            known.cleared = True
        elif not known.left:
            known.left = {
                "gradients left over": f"{len(left)} of {len(held)}",
                "their norm": sum(held[key] ** 2 for key in left) ** 0.5,
            }

    def _judge(self, known: Optimizer) -> None:
        """At the next step: what was left over since the last was either cleared on the way, or not."""
        if not any(known.checksums.values()) and not known.cleared:
            return  # no gradient to clear
        cleared = bool(known.cleared) or not known.left
        known.remains = cleared, {} if cleared else known.left

    def _look_at_gradients(self, optimizer: torch.optim.Optimizer) -> None:
        held = list(parameters_of(optimizer))
        taken = {id(one) for _, working in self.working() for one in parameters_of(working)}
        others = [
            tensor
            for one in self.parameters.values()
            if not one.judged and (tensor := one.tensor()) is not None and id(tensor) not in taken
        ]
        wanted = [one for one in (*held, *others) if not self.known(one).judged]
        with_gradient = [one for one in wanted if one.grad is not None]
        found = numbers.gradients([one.grad for one in with_gradient if one.grad is not None])
        for one, gradient in zip(with_gradient, found, strict=True):
            self.known(one).gradient = gradient
        for one in wanted:
            self.known(one).judged = True

    def known(self, tensor: torch.Tensor) -> Parameter:
        found = self.parameters.get(id(tensor))
        if found is None or found.tensor() is not tensor:
            found = self.parameters[id(tensor)] = Parameter(tensor)
        return found

    # Weights

    def _survey(self) -> None:
        """Look at the weights of all models that are called, before any step changes them."""
        for root in self._recorder.models.all():
            for one in root.parameters():
                known = self.known(one)
                self._note_start(known, one)
        for _, other in loose(self._recorder):
            self._note_start(self.known(other), other)

    def _note_start(self, known: Parameter, tensor: torch.Tensor) -> None:
        if known.start is None and not known.stepped:
            known.start = numbers.spread(tensor)

    def _keep_samples(self, optimizer: torch.optim.Optimizer) -> None:
        for one in parameters_of(optimizer):
            kept = numbers.sample(one)
            if kept is not None:
                self._samples[id(one)] = (kept, numbers.total(one))

    def _compare(self, optimizer: torch.optim.Optimizer) -> None:
        """How far the step has moved each parameter."""
        decoupled = dotted(type(optimizer)) in _DECOUPLED
        for group in optimizer.param_groups:
            rate, decay = number(group.get("lr")), number(group.get("weight_decay"))
            shrink = 1 - rate * decay if decoupled or group.get("decoupled_weight_decay") else 1.0
            for one in group["params"]:
                before = self._samples.pop(id(one), None)
                after = numbers.sample(one)
                if before is None or after is None or before[0].shape != after.shape:
                    continue
                known = self.known(one)
                known.stepped, known.rate = True, rate
                size = float(torch.linalg.vector_norm(before[0].double()))
                kept = shrink if one.grad is not None else 1.0
                moved = float(torch.linalg.vector_norm(after.double() - before[0].double() * kept))
                known.update = moved / size if size else None
                known.unchanged = torch.equal(after, before[0]) and before[1] == numbers.total(one)
                if known.lost is None and rate and rate >= number(group.get("initial_lr")):
                    known.lost, known.moving = numbers.lost(before[0], after, one)


def _trains(optimizer: torch.optim.Optimizer) -> bool:
    return any(one.requires_grad for one in parameters_of(optimizer))
