"""Calls of modules: which one is at work, what went in and came out."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts import events as ev
from trainlint.facts.step import BatchSeen, Layout, ModuleSeen, NonFinite, Rectified, Spread
from trainlint.facts.torch_api import DROPOUTS
from trainlint.facts.values import Items, Object, Op, Value
from trainlint.finding import Place
from trainlint.trace import again, numbers
from trainlint.trace.graph import seen, tensors
from trainlint.trace.hidden import hidden
from trainlint.trace.objects import is_loss, unwrapped

if TYPE_CHECKING:
    from trainlint.trace.recorder import Recorder

_WITH_LAYOUT = (
    torch.nn.RNNBase,
    torch.nn.MultiheadAttention,
    torch.nn.Transformer,
    torch.nn.TransformerEncoderLayer,
    torch.nn.TransformerDecoderLayer,
)
_FAST_IN_EVALUATION = (
    torch.nn.MultiheadAttention,
    torch.nn.TransformerEncoder,
    torch.nn.TransformerEncoderLayer,
)
"""Modules that take another path in evaluation when nobody watches; they must take it here too."""

_RECTIFIERS = (torch.nn.ReLU, torch.nn.ReLU6)
_FLAT_ENDS: dict[type, tuple[float, float]] = {
    torch.nn.Sigmoid: (0.01, 0.99),
    torch.nn.Tanh: (-0.99, 0.99),
}
_MEASURED_CALLS = 3
"""Calls of one module whose outputs are measured."""


@dataclass(eq=False)
class _Call:
    """A call of a module that has not returned."""

    module: torch.nn.Module
    object: Object
    frame: FrameType | None
    instruction: int
    is_by_container: bool
    """Called by another module of a library on the same line of the program, not by the program itself."""
    records: bool
    inner: float = 0.0
    """Seconds of the modules that it has called, and of watching them."""


class _Life:
    """What is known of one module over all of its calls."""

    def __init__(self, module: torch.nn.Module, order: int) -> None:
        self.module = weakref.ref(module)
        self.order = order
        self.calls = 0
        self.training: bool | None = None
        self.output: tuple[int, ...] | None = None
        self.spread: Spread | None = None
        self.dead: float | None = None
        self.saturated: float | None = None
        self.seconds: float | None = None


class ModuleCalls:
    """The stack of module calls, and what each module's calls have shown."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._stack: list[_Call] = []
        self._lives: dict[int, _Life] = {}
        self._names: dict[int, dict[int, str]] = {}
        self.roots: dict[int, weakref.ref[torch.nn.Module]] = {}
        """Models that were called with gradients on, in the order of their first call."""
        self.named: dict[int, weakref.ref[torch.nn.Module]] = {}
        """Models that the program handles as a whole: it lists their parameters, moves them, switches their mode."""
        self.inputs: dict[int, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        """The latest inputs of each root, as `again.held` holds them."""
        self._made_inside: dict[int, tuple[weakref.ref[torch.nn.Module], Object]] = {}
        """Modules that were made in a forward and not called yet, with the module whose forward it was."""
        self.latest: weakref.ref[torch.nn.Module] | None = None

    # What is at work

    @property
    def is_training_forward(self) -> bool:
        """Whether a model is being called in a way that can be trained."""
        return bool(self._stack) and self._stack[0].records

    def layer(self) -> Object | None:
        """The module of torch's own that is at work, if it is the innermost one."""
        if not self._stack:
            return None
        call = self._stack[-1]
        return call.object if call.object.definition is None else None

    def own_module(self) -> Object | None:
        """The innermost module of the program's own that is at work."""
        return next((one.object for one in reversed(self._stack) if one.object.definition is not None), None)

    def path(self) -> str:
        """The path of the module that is at work, inside its model."""
        if not self._stack:
            return ""
        return self.path_of(self._stack[-1].module, self._stack[0].module)

    def path_of(self, module: torch.nn.Module, root: torch.nn.Module) -> str:
        names = self._names.get(id(root))
        if names is None or id(module) not in names:
            names = self._names[id(root)] = {id(one): name for name, one in root.named_modules()}
        return names.get(id(module), type(module).__name__)

    def place_of_layer(self, frame: FrameType) -> Place | None:
        """Where the layer at work was made, if it is not the program itself that called it."""
        if self._stack:
            call = self._stack[-1]
            if call.is_by_container and call.frame is frame:
                return call.object.at
        return None

    def made(self, module: torch.nn.Module, frame: FrameType | None) -> None:
        """A module comes into being: in a forward, unless it is only a part of another that does."""
        holder = self.own_module()
        if holder is not None and frame is not None and frame.f_code.co_name != "__init__":
            self._made_inside[id(module)] = (weakref.ref(module), holder)

    def _first_call(self, module: torch.nn.Module, frame: FrameType | None) -> None:
        """A module that was made in a forward is called: now it is known what it is."""
        known = self._made_inside.pop(id(module), None)
        if known is None or known[0]() is not module:
            return
        is_trained = any(one.requires_grad for one in module.parameters())
        if not is_trained and not isinstance(module, torch.nn.modules.dropout._DropoutNd):
            return
        made = self._recorder.objects.of(module)
        if made.definition is not None:
            self._recorder.objects.describe(module)
        built = self._recorder.emit(ev.Built, frame, made, object=made, within=known[1])
        if built is not None and made.at is not None:
            built.at = made.at

    def dropped(self, op: Op, frame: FrameType | None) -> None:
        """A function with dropout in it was called."""
        call = next((one for one in reversed(self._stack) if one.object.definition is not None), None)
        if call is not None:
            self._recorder.emit(
                ev.Dropped,
                frame,
                call.object,
                function=op.name,
                share=op.option(*DROPOUTS[op.name]),
                training=op.options.get("training"),
                module=call.object,
                mode=call.module.training,
            )

    # Calls

    def call(
        self,
        original: Callable[..., Any],
        module: torch.nn.Module,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call a module, watched."""
        recorder = self._recorder
        call: _Call | None = None
        entered = time.thread_time()
        with recorder.careful:
            call = self._begun(module, args, kwargs)
        began = time.thread_time()
        try:
            if not module.training and isinstance(module, _FAST_IN_EVALUATION):
                with hidden(recorder.mode):
                    result = original(module, *args, **kwargs)
            else:
                result = original(module, *args, **kwargs)
        finally:
            took = time.thread_time() - began
            if call is not None:
                self._stack.remove(call)
        if call is not None and recorder.listens:
            with recorder.careful:
                self._timed(call, took)
                self._leave(call, self._stack[-1] if self._stack else None, call.frame, args, kwargs, result)
        if self._stack:
            self._stack[-1].inner += time.thread_time() - entered
        return result

    def _begun(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
        """A module is about to be called."""
        recorder = self._recorder
        frame = recorder.frame(3)
        parent = self._stack[-1] if self._stack else None
        same = parent is not None and parent.frame is frame and frame is not None
        by_container = (
            same and parent is not None and frame is not None and parent.instruction == frame.f_lasti
        )
        made = recorder.objects.of(module)
        recorder.direct.look(frame, frame)
        self._first_call(module, frame)
        call = _Call(
            module, made, frame, frame.f_lasti if frame else 0, bool(by_container), torch.is_grad_enabled()
        )
        if parent is None:
            self._enter_model(module, made, frame, args, kwargs)
        self._layout(module, made, frame, args, kwargs)
        self._stack.append(call)
        return call

    def _enter_model(
        self,
        module: torch.nn.Module,
        made: Object,
        frame: FrameType | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        recorder = self._recorder
        if is_loss(module) or not torch.is_grad_enabled():
            return
        parameters = [one for one in unwrapped(module).parameters() if one.requires_grad]
        if not parameters:
            return
        model = unwrapped(module)
        recorder.phase("the first backward pass")
        self.roots.setdefault(id(model), weakref.ref(model))
        self.latest = weakref.ref(model)
        with recorder.aside():
            self.inputs[id(model)] = (again.held(args), again.held(kwargs))
        recorder.steps.forwards += 1
        recorder.called_in_regions({one.device.type for one in parameters[:64]})
        place = recorder.at(frame)
        if place is None:
            return
        dtypes = tuple(sorted({str(one.dtype).removeprefix("torch.") for one in parameters[:64]}))
        for name, value in [*((str(n), one) for n, one in enumerate(args)), *kwargs.items()]:
            for one in tensors(value)[:4]:
                if recorder.wants(BatchSeen, (place, "input", name)):
                    recorder.batch_seen(one, place, "input", name, made.type, dtypes)

    def _layout(
        self,
        module: torch.nn.Module,
        made: Object,
        frame: FrameType | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        if not isinstance(module, _WITH_LAYOUT) or not args or not isinstance(args[0], torch.Tensor):
            return
        if args[0].is_nested:
            return
        recorder = self._recorder
        place = recorder.at(frame)
        first = getattr(module, "batch_first", None)
        if first is None:
            first = getattr(getattr(module, "self_attn", None), "batch_first", False)
        if place is not None and recorder.wants(Layout, (place, id(module))):
            recorder.fact(
                Layout(place, made.type, made.type, bool(first), tuple(args[0].shape), recorder.batch.size),
                (place, id(module)),
            )

    def _timed(self, call: _Call, took: float) -> None:
        """The first call of a module warms up, and does not count."""
        life = self._lives.get(id(call.module))
        if life is not None and life.module() is call.module and call.records:
            life.seconds = _least(life.seconds, took - call.inner)

    def _leave(
        self,
        call: _Call,
        parent: _Call | None,
        frame: FrameType | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
    ) -> None:
        module = call.module
        life = self._lives.get(id(module))
        if life is None or life.module() is not module:
            life = self._lives[id(module)] = _Life(module, len(self._lives))
        life.training = module.training
        outputs = tensors(result)
        if call.records:
            life.calls += 1
            if outputs and life.calls <= _MEASURED_CALLS:
                with self._recorder.aside():
                    self._measure(life, module, outputs[0])
        if parent is None:
            self._output(call, frame, args, kwargs, outputs)
        else:
            self._unseen(call, frame, args, kwargs, outputs)

    def _output(
        self,
        call: _Call,
        frame: FrameType | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outputs: list[torch.Tensor],
    ) -> None:
        """What a model gives to the program."""
        recorder = self._recorder
        model = recorder.objects.of(unwrapped(call.module))
        if is_loss(call.module):
            return
        recorder.objects.describe(unwrapped(call.module))
        self._unseen(call, frame, args, kwargs, outputs)
        values: list[Value] = []
        for one in outputs:
            made = Op(
                name="output",
                inputs=(recorder.graph.of(one),),
                at=recorder.at(frame),
                owner=model,
                records=call.records,
                attached=one.requires_grad,
                seen=seen(one),
            )
            recorder.graph.note(one, made)
            values.append(made)
        output = values[0] if len(values) == 1 else Items(kind="tuple", items=values)
        recorder.emit(
            ev.Forward,
            frame,
            model,
            module=model,
            inputs=tuple(recorder.graph.value(one) for one in args),
            output=output,
            records=call.records,
            mode=call.module.training,
        )

    def _unseen(
        self,
        call: _Call,
        frame: FrameType | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outputs: list[torch.Tensor],
    ) -> None:
        """Outputs that no recorded operation made: a compiled or scripted module is one operation."""
        graph = self._recorder.graph
        unseen = [one for one in outputs if graph.known(one) is None]
        if not unseen:
            return
        trainable = [one for one in call.module.parameters() if one.requires_grad][:1]
        inputs = tuple(graph.of(one) for one in (*tensors([*args, *kwargs.values()]), *trainable))
        for one in unseen:
            made = Op(
                name="module",
                inputs=inputs,
                at=self._recorder.at(frame),
                records=call.records,
                attached=one.requires_grad,
                seen=seen(one),
            )
            graph.note(one, made)

    # Numbers

    def _measure(self, life: _Life, module: torch.nn.Module, output: torch.Tensor) -> None:
        life.output = tuple(output.shape)
        if any(True for _ in module.children()) and output.dim() > 0:
            return
        life.spread = numbers.spread(output)
        if isinstance(module, _RECTIFIERS):
            life.dead = _least(life.dead, dead_units(output))
        ends = _FLAT_ENDS.get(type(module))
        if ends is not None and output.numel():
            low, high = ends
            flat = float(((output < low) | (output > high)).sum()) / output.numel()
            life.saturated = _least(life.saturated, flat)
        if life.spread is not None and life.spread.non_finite and not self._recorder.is_broken:
            self._recorder.is_broken = True
            path = self.path_of(module, self._stack[0].module) if self._stack else ""
            place = self._recorder.objects.of(module).at
            self._recorder.facts.append(
                NonFinite(place, type(module).__name__, type(module).__name__, path, "inf", life.output)
            )

    def rectified(self, op: Op, result: torch.Tensor) -> None:
        """A rectifier was called as a function, by a model that is trained."""
        if op.at is None or not self.is_training_forward or not self._is_model(self._stack[0].module):
            return
        given = op.inputs[0] if op.inputs else None
        layer = given.owner.uid if isinstance(given, Op) and given.owner is not None else None
        if self._recorder.wants(Rectified, (op.at, layer)):
            with self._recorder.aside():
                dead = dead_units(result)
            if dead is not None:
                found = Rectified(op.at, self.path(), layer, tuple(result.shape), dead)
                self._recorder.fact(found, (op.at, layer))

    def _is_model(self, module: torch.nn.Module) -> bool:
        model = unwrapped(module)
        held = self.roots.get(id(model))
        return held is not None and held() is model

    def seen_modules(self, root: torch.nn.Module) -> list[ModuleSeen]:
        """What the calls of a model's modules have shown."""
        recorder = self._recorder
        model = recorder.objects.of(root).type
        found = []
        for path, module in root.named_modules():
            life = self._lives.get(id(module))
            if life is not None and life.module() is not module:
                life = None
            made = recorder.objects.of(module)
            found.append(
                ModuleSeen(
                    path=path,
                    type=made.type,
                    model=model,
                    at=made.at,
                    order=life.order if life is not None and life.calls else None,
                    calls=life.calls if life is not None else 0,
                    parameters=sum(
                        one.numel() for one in module.parameters(recurse=False) if one.requires_grad
                    ),
                    training=life.training if life is not None else None,
                    output=life.output if life is not None else None,
                    spread=life.spread if life is not None else None,
                    dead=life.dead if life is not None else None,
                    saturated=life.saturated if life is not None else None,
                    seconds=life.seconds if life is not None else None,
                )
            )
        return found

    def order_of(self, module: torch.nn.Module) -> int | None:
        life = self._lives.get(id(module))
        return life.order if life is not None and life.calls and life.module() is module else None


def _least(one: float | None, other: float | None) -> float | None:
    """The smaller share: a module that is called at several places is judged by the best of them."""
    return other if one is None else one if other is None else min(one, other)


def dead_units(output: torch.Tensor) -> float | None:
    """The share of features that are 0 for every sample and position; None where there is one sample."""
    if output.dim() < 2 or output.shape[0] < 2 or output.numel() == 0:
        return None
    axis = 1 if output.dim() == 4 else -1
    others = [n for n in range(output.dim()) if n != axis % output.dim()]
    largest = output.detach().amax(dim=others)
    return float((largest <= 0).sum()) / largest.numel()
