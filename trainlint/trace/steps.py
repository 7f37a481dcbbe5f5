"""The optimizers of a run, what each step used and changed, and when enough has been seen."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts import events as ev
from trainlint.facts.step import Gradient, OptimizerSeen, ParameterSeen, ScalerSeen, Spread
from trainlint.facts.torch_api import PARAMETER
from trainlint.facts.values import Constant, Items, Object, Op, Value
from trainlint.finding import Place
from trainlint.trace import numbers
from trainlint.trace.losses import note_value
from trainlint.trace.objects import dotted

if TYPE_CHECKING:
    from trainlint.trace.recorder import Recorder

_PATIENCE = 20
"""Steps of one optimizer to wait for the others."""

_FLATTENS = ("view", "reshape", "flatten", "ravel")
"""What may give targets another first axis than the batch."""

_SHAPE_TOLD = re.compile(r"\[torch\.[\w.]+ \[([\d, ]*)\]\]")
"""How torch names the shape of a tensor that was changed too early."""

_DECOUPLED = ("torch.optim.AdamW", "torch.optim.NAdam", "torch.optim.RAdam")


class Parameter:
    """What is known of one parameter over the recorded steps."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = weakref.ref(tensor)
        self.start: Spread | None = None
        self.gradient: Gradient | None = None
        self.judged = False
        self.reached = False
        self.alive = False
        self.stepped = False
        self.update: float | None = None
        self.unchanged: bool | None = None
        self.rate: float | None = None


class Optimizer:
    """What is known of one optimizer.

    Args:
        cleared: whether the gradients of its last step were cleared before the next; None until that is known.
        left: for gradients that were not: how many there were, of how many, and their norm.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, made: Object, number: int) -> None:
        self.optimizer = weakref.ref(optimizer)
        self.object = made
        self.number = number
        self.steps = 0
        self.step_at: Place | None = None
        self.skipped = 0
        self.idle = 0
        self.cleared: bool | None = None
        self.left: dict[str, float | str] = {}
        self.checksums: dict[int, float] = {}
        self.seen_between = False


class Steps:
    """Follows every optimizer, and ends the recording when each has been seen."""

    def __init__(self, recorder: Recorder, wanted: int, max_wait: int) -> None:
        self._recorder = recorder
        self._wanted = wanted
        self._max_wait = max_wait
        self.optimizers: dict[int, Optimizer] = {}
        self.parameters: dict[int, Parameter] = {}
        self.inside = False
        """Whether an optimizer is stepping now."""
        self.scaler: Any = None
        self.scalers: dict[int, tuple[Any, Object, list[float], int, int]] = {}
        self.backwards = 0
        self.forwards = 0
        self.by_hand = 0
        self.by_hand_at: Place | None = None
        self._changed_by_hand = False
        self._last_of_all: Optimizer | None = None
        self.batch: int | None = None
        self._batch_of_loader = False
        self._samples: dict[int, tuple[torch.Tensor, float]] = {}

    @property
    def done(self) -> int:
        """How many steps the optimizer that has stepped most has taken."""
        return max((one.steps for one in self.optimizers.values()), default=0)

    # Batches

    def batch_of_loader(self, found: list[torch.Tensor], wanted: int | None) -> None:
        """A loader gave these tensors; `wanted` is how many samples it was asked for, where it was."""
        sizes = {one.shape[0] for one in found if one.dim() > 0}
        if wanted is None or (sizes != {wanted} and any(wanted in one.shape[1:] for one in found)):
            return
        if len(sizes) == 1 and max(sizes) <= wanted:
            self.batch = sizes.pop()
            self._batch_of_loader = True

    def loss_computed(self, function: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if self._batch_of_loader or function not in ("cross_entropy", "nll_loss"):
            return
        given = [*args[:2], *(kwargs[key] for key in ("input", "target") if key in kwargs)]
        if len(given) > 1 and isinstance(given[1], torch.Tensor) and given[1].dim() == 1:
            size, made = given[1].shape[0], self._recorder.graph.known(given[1])
            if isinstance(made, Op) and made.name in _FLATTENS and made.inputs:
                before = getattr(made.inputs[0], "seen", None)
                if before is None or before.shape[:1] != (size,):
                    return
            self.batch = size

    # Optimizers

    def optimizer_made(self, optimizer: torch.optim.Optimizer, frame: FrameType | None) -> None:
        recorder = self._recorder
        place = recorder.at(frame)
        made = recorder.objects.made(optimizer, place)
        self.optimizers[id(optimizer)] = Optimizer(optimizer, made, len(self.optimizers))
        recorder.emit(ev.Built, frame, made, object=made)
        recorder.phase("the first backward pass")

    def of(self, optimizer: torch.optim.Optimizer) -> Optimizer:
        found = self.optimizers.get(id(optimizer))
        if found is None or found.optimizer() is not optimizer:
            made = self._recorder.objects.of(optimizer)
            found = self.optimizers[id(optimizer)] = Optimizer(optimizer, made, len(self.optimizers))
        return found

    def before_step(self, optimizer: torch.optim.Optimizer, has_closure: bool) -> None:
        """An optimizer is about to step: the recording ends here, once all is recorded."""
        recorder = self._recorder
        known = self.of(optimizer)
        if known.steps >= self._wanted and known.cleared is None and known.seen_between:
            self._judge(known)
        self.inside = True
        if self._is_complete(known):
            if not has_closure:
                recorder.end("recorded")
            self._last_of_all = known  # its closure clears gradients, or not, before it computes new ones
            return
        if known.steps < self._wanted:
            with recorder.aside():
                self._survey()
                if not has_closure:
                    self._look_at_gradients(optimizer)
                self._keep_samples(optimizer)

    def after_step(self, optimizer: torch.optim.Optimizer, has_closure: bool) -> None:
        recorder = self._recorder
        known = self.of(optimizer)
        self.inside = False
        frame = recorder.frame(3)
        event = recorder.emit(
            ev.OptimizerStep,
            frame,
            known.object,
            optimizer=known.object,
            scaler=recorder.objects.of(self.scaler) if self.scaler is not None else None,
        )
        if event is not None and known.step_at is None:
            known.step_at = event.at
        with recorder.aside():
            if known.steps < self._wanted:
                if has_closure:
                    self._look_at_gradients(optimizer)
                self._compare(optimizer)
            if known.steps == 0:
                known.idle = sum(one.grad is None for one in _parameters_of(optimizer))
            known.checksums = self._checksums(optimizer)
        known.steps += 1
        known.cleared, known.seen_between = None, False
        recorder.phase("the gradients of the next round")

    def _is_complete(self, next_to_step: Optimizer) -> bool:
        """Whether every optimizer has stepped as often as was asked for, and what it left has been judged."""
        if next_to_step.steps < self._wanted:
            return False
        alive = [one for one in self.optimizers.values() if one.optimizer() is not None and _trains(one)]
        if next_to_step.steps >= self._wanted + _PATIENCE:
            return True
        return all(one is next_to_step or one.steps > self._wanted for one in alive)

    # Gradients

    def before_backward(
        self, losses: Sequence[Any], frame: FrameType | None, retains: bool | None = None
    ) -> None:
        """Gradients are about to be computed. Ends the recording where nothing more can be waited for."""
        recorder = self._recorder
        if self._changed_by_hand:
            self._changed_by_hand = False
            self.by_hand += 1
        if self.by_hand > self._wanted and not self.done:
            recorder.end("recorded")
            return
        if self.backwards >= self._max_wait and not self.done:
            recorder.end("waited")
            return
        self.backwards += 1
        recorder.operations = 0
        if self.backwards == 1:
            recorder.phase("the first optimizer step")
        for loss in losses:
            if isinstance(loss, torch.Tensor):
                value = recorder.graph.of(loss)
                note_value(value, loss)
                told = Constant(value=retains) if retains is not None else None
                recorder.emit(ev.Backward, frame, None, loss=value, accumulates=True, retains=told)
        with recorder.aside():
            for known in self.optimizers.values():
                if known.checksums or known.steps:
                    self._notice_clearing(known)
        if self._last_of_all is not None:
            self._judge(self._last_of_all)
            recorder.end("recorded")

    def after_backward(self) -> None:
        with self._recorder.aside():
            self._see_who_was_reached()
            for known in self.optimizers.values():
                optimizer = known.optimizer()
                if known.steps and optimizer is not None:
                    known.checksums = self._checksums(optimizer)
                    known.seen_between = True

    def _see_who_was_reached(self) -> None:
        """Which parameters this backward gave a gradient, and which of them more than zeros."""
        waiting = [
            (self._known(one), one.grad)
            for known in self.optimizers.values()
            if (optimizer := known.optimizer()) is not None
            for one in _parameters_of(optimizer)
            if one.grad is not None and not self._known(one).alive
        ]
        found = numbers.any_nonzero([gradient for _, gradient in waiting if gradient is not None])
        for (parameter, _), alive in zip(waiting, found, strict=True):
            parameter.reached, parameter.alive = True, alive

    def _notice_clearing(self, known: Optimizer) -> None:
        """Compare gradients with what they were after the last step or backward: if they differ, they were cleared."""
        optimizer = known.optimizer()
        if optimizer is None or not known.checksums:
            return
        now = self._checksums(optimizer)
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
        """At the second step: what was left over since the first was either cleared on the way, or not."""
        known.cleared = bool(known.cleared) or not known.left

    def _checksums(self, optimizer: torch.optim.Optimizer) -> dict[int, float]:
        held = [one for one in _parameters_of(optimizer) if one.grad is not None]
        return dict(
            zip(
                map(id, held),
                numbers.checksums([one.grad for one in held if one.grad is not None]),
                strict=True,
            )
        )

    def _look_at_gradients(self, optimizer: torch.optim.Optimizer) -> None:
        held = list(_parameters_of(optimizer))
        others = [
            tensor
            for one in self.parameters.values()
            if not one.judged and (tensor := one.tensor()) is not None and not self._is_held(tensor)
        ]
        wanted = [one for one in (*held, *others) if not self._known(one).judged]
        with_gradient = [one for one in wanted if one.grad is not None]
        found = numbers.gradients([one.grad for one in with_gradient if one.grad is not None])
        for one, gradient in zip(with_gradient, found, strict=True):
            self._known(one).gradient = gradient
        for one in wanted:
            self._known(one).judged = True

    def _is_held(self, tensor: torch.Tensor) -> bool:
        return any(
            tensor is one
            for known in self.optimizers.values()
            if (optimizer := known.optimizer()) is not None
            for one in _parameters_of(optimizer)
        )

    def _known(self, tensor: torch.Tensor) -> Parameter:
        found = self.parameters.get(id(tensor))
        if found is None or found.tensor() is not tensor:
            found = self.parameters[id(tensor)] = Parameter(tensor)
        return found

    # Weights

    def _survey(self) -> None:
        """Look at the weights of all models that are called, before any step changes them."""
        for root in self.roots():
            for one in root.parameters():
                known = self._known(one)
                if known.start is None and not known.stepped:
                    known.start = numbers.spread(one)

    def _keep_samples(self, optimizer: torch.optim.Optimizer) -> None:
        for one in _parameters_of(optimizer):
            kept = numbers.sample(one)
            if kept is not None:
                self._samples[id(one)] = (kept, numbers.total(one))

    def _compare(self, optimizer: torch.optim.Optimizer) -> None:
        """How far the step has moved each parameter."""
        decoupled = dotted(type(optimizer)) in _DECOUPLED
        for group in optimizer.param_groups:
            rate, decay = _number(group.get("lr")), _number(group.get("weight_decay"))
            shrink = 1 - rate * decay if decoupled or group.get("decoupled_weight_decay") else 1.0
            for one in group["params"]:
                before = self._samples.pop(id(one), None)
                after = numbers.sample(one)
                if before is None or after is None or before[0].shape != after.shape:
                    continue
                known = self._known(one)
                known.stepped, known.rate = True, rate
                size = float(torch.linalg.vector_norm(before[0].double()))
                moved = float(torch.linalg.vector_norm(after.double() - before[0].double() * shrink))
                known.update = moved / size if size else None
                known.unchanged = torch.equal(after, before[0]) and before[1] == numbers.total(one)

    def changed_in_place(
        self, args: Sequence[Any], inputs: tuple[Value, ...], frame: FrameType | None
    ) -> None:
        """A tensor was changed in place outside of any optimizer: an update by hand, if it is a parameter's."""
        if not self.backwards or not args or not isinstance(args[0], torch.Tensor) or torch.is_grad_enabled():
            target = inputs[0] if inputs else None
            if not (self.backwards and isinstance(target, Op) and target.name in ("data", "detach")):
                return
        if not isinstance(inputs[0], Op):
            return
        target = _of_parameter(inputs[0])
        if target is not None:
            self._changed_by_hand = True
            if self.by_hand_at is None:
                self.by_hand_at = self._recorder.at(frame)
                self._recorder.emit(ev.ParametersRead, frame, None, target=target)

    def culprit(self, message: str) -> Op | None:
        """The latest in-place operation on a value that backward needed: of the sizes that torch complains of.

        Their order tells nothing: a layer may have saved its weight transposed.
        """
        told = _SHAPE_TOLD.search(message)
        sizes = sorted(map(int, told[1].replace(",", " ").split())) if told else None
        changed = [
            value
            for _, value in list(self._recorder.graph._values.values())
            if isinstance(value, Op)
            and value.in_place
            and value.attached
            and (sizes is None or (value.seen is not None and sorted(value.seen.shape) == sizes))
        ]
        return max(changed, key=lambda op: op.uid, default=None)

    # Scalers

    def scaler_made(self, scaler: Any, frame: FrameType | None) -> None:
        recorder = self._recorder
        made = recorder.objects.made(scaler, recorder.at(frame))
        recorder.emit(ev.Built, frame, made, object=made)

    def scaler_stepped(self, scaler: Any, optimizer: torch.optim.Optimizer, steps_before: int) -> None:
        """A scaler's `step`: it has let the optimizer step, or found non-finite gradients."""
        known = self.of(optimizer)
        skipped = known.steps == steps_before
        if skipped:
            known.skipped += 1
        held = self.scalers.get(id(scaler))
        scale = float(scaler.get_scale())
        scales, steps, skips = ([scale], 0, 0) if held is None else (held[2], held[3], held[4])
        self.scalers[id(scaler)] = (
            weakref.ref(scaler),
            self._recorder.objects.of(scaler),
            [*scales[:1], scale],
            steps + 1,
            skips + int(skipped),
        )

    def seen_scalers(self) -> list[ScalerSeen]:
        found = []
        for held, made, scales, steps, skipped in self.scalers.values():
            scaler = held()
            last = float(scaler.get_scale()) if scaler is not None else scales[-1]
            found.append(ScalerSeen(made.at, scales[0], last, steps, skipped))
        return found

    # What was seen

    def roots(self) -> list[torch.nn.Module]:
        """The models that were called, each inside the largest model that the program handles as a whole."""
        modules = self._recorder.modules
        called = [model for one in modules.roots.values() if (model := one()) is not None]
        named = [model for one in modules.named.values() if (model := one()) is not None]
        around = [one for one in named if any(_holds(one, inner) for inner in called)]
        candidates = {id(one): one for one in (*called, *around)}.values()
        return [
            one
            for one in candidates
            if not any(other is not one and _holds(other, one) for other in candidates)
        ]

    def seen_optimizers(self) -> list[OptimizerSeen]:
        belonging = {id(parameter) for root in self.roots() for parameter in root.parameters()}
        found = []
        for known in self.optimizers.values():
            optimizer = known.optimizer()
            if optimizer is None:
                continue
            held = list(_parameters_of(optimizer))
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
                    learning_rates=tuple(_number(group.get("lr")) for group in optimizer.param_groups),
                    weight_decays=tuple(
                        _number(group.get("weight_decay")) for group in optimizer.param_groups
                    ),
                    parameters=len(held),
                    elsewhere=sum(id(one) not in belonging for one in held),
                    skipped=known.skipped,
                    state_devices=tuple(sorted(devices)),
                    idle=known.idle,
                )
            )
        return found

    def seen_parameters(self) -> list[ParameterSeen]:
        recorder = self._recorder
        found = []
        for model, root in enumerate(self.roots()):
            modules = dict(root.named_modules())
            uses: dict[int, int] = {}
            for _, one in root.named_parameters(remove_duplicate=False):
                uses[id(one)] = uses.get(id(one), 0) + 1
            for name, one in root.named_parameters():
                path = name.rpartition(".")[0]
                holder = modules.get(path, root)
                made = recorder.objects.of(holder)
                known = self._known(one)
                numbers_of = [
                    held.number
                    for held in self.optimizers.values()
                    if (optimizer := held.optimizer()) is not None
                    and any(one is other for other in _parameters_of(optimizer))
                ]
                found.append(
                    ParameterSeen(
                        name=name,
                        module=path,
                        module_type=made.type,
                        at=made.at,
                        order=recorder.modules.order_of(holder),
                        shape=tuple(one.shape),
                        dtype=str(one.dtype).removeprefix("torch."),
                        device=one.device.type,
                        trainable=one.requires_grad,
                        optimizers=tuple(numbers_of),
                        stepped=known.stepped,
                        start=known.start,
                        gradient=known.gradient,
                        expected=known.judged and self.backwards > 0,
                        update=known.update,
                        unchanged=known.unchanged,
                        uses=uses[id(one)],
                        model=model,
                        rate=known.rate,
                        moved=one.requires_grad
                        and not numbers_of
                        and known.start is not None
                        and numbers.spread(one) != known.start,
                        reached=known.reached,
                        alive=known.alive,
                        value=self._value_of(one),
                    )
                )
        return found

    def _value_of(self, parameter: torch.Tensor) -> Value | None:
        value = self._recorder.graph.known(parameter)
        return _of_parameter(value) if isinstance(value, Op) else None

    def describe_optimizers(self) -> None:
        """Fill in what each optimizer holds: whole modules where it holds all their parameters."""
        for known in self.optimizers.values():
            optimizer = known.optimizer()
            if optimizer is None or known.object.args:
                continue
            held = {id(one) for one in _parameters_of(optimizer)}
            items: list[Value] = []
            covered: set[int] = set()
            for root in self.roots():
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


def _trains(known: Optimizer) -> bool:
    optimizer = known.optimizer()
    return optimizer is not None and any(one.requires_grad for one in _parameters_of(optimizer))


def _parameters_of(optimizer: torch.optim.Optimizer) -> Iterable[torch.Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _number(value: Any) -> float:
    try:
        return float(value or 0.0)
    except (TypeError, ValueError):
        return 0.0


def _holds(outer: torch.nn.Module, inner: torch.nn.Module) -> bool:
    return any(one is inner for one in outer.modules())


def _of_parameter(value: Op) -> Op | None:
    """The parameter that a value is, or whose `data` it is; through the updates that it has had."""
    for _ in range(30):
        if value.name == PARAMETER:
            return value
        inner = value.inputs[0] if value.inputs else None
        if not isinstance(inner, Op) or not (value.in_place or value.name in ("data", "detach", "getitem")):
            return None
        value = inner
    return None
