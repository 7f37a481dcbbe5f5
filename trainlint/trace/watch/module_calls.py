"""Calls of modules: which one is running, what went in and came out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.api.layers import MODE_DEPENDENT, MODE_DEPENDENT_IF
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.values import Items, Object, Op, Value
from trainlint.facts.seen.modules import Unrecorded
from trainlint.finding import Place
from trainlint.trace.watch.graph import seen, tensors
from trainlint.trace.watch.hidden import hidden
from trainlint.trace.watch.layouts import note_layout
from trainlint.trace.watch.objects import is_loss, unwrapped
from trainlint.trace.watch.tape import Called
from trainlint.trace.watch.unmasked import note_unmasked

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_FAST_IN_EVALUATION = (
    torch.nn.MultiheadAttention,
    torch.nn.TransformerEncoder,
    torch.nn.TransformerEncoderLayer,
)
"""Modules that take another path in evaluation when nobody watches; they must take it here too."""


_MODE_DEPENDENT: dict[type, str] = {}
"""The name in `torch.nn` of each class of modules that has been called and depends on the mode; empty for others."""


def _mode_dependent(kind: type) -> str:
    names = (base.__name__ for base in kind.__mro__ if base.__module__.startswith("torch.nn."))
    return next((name for name in names if name in MODE_DEPENDENT), "")


def _heeds_mode(layer: torch.nn.Module, name: str) -> bool:
    return name not in MODE_DEPENDENT_IF or bool(getattr(layer, MODE_DEPENDENT_IF[name][1], True))


@dataclass(eq=False)
class Call:
    """A call of a module that has not returned."""

    module: torch.nn.Module
    object: Object
    frame: FrameType | None
    instruction: int
    is_by_container: bool
    """Called by another module of a library on the same line of the program, not by the program itself."""
    records: bool
    given: tuple[Any, ...] = ()
    """Its arguments, and those by keyword."""
    inner: float = 0.0
    """Seconds of the modules that it has called, and of watching them."""
    layers: set[int] = field(default_factory=set)
    """The layers that depend on the mode and were called in it, where it is the outermost call."""
    off: dict[int, str] = field(default_factory=dict)
    """Those of them that were in evaluation mode, with their classes."""


class ModuleCalls:
    """The modules that are being called, each by the one before it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._stack: list[Call] = []
        self._names: dict[int, dict[int, str]] = {}

    # What is running

    @property
    def is_training_forward(self) -> bool:
        """Whether a model is being called in a way that can be trained."""
        return bool(self._stack) and self._stack[0].records

    @property
    def outermost(self) -> torch.nn.Module | None:
        """The module that the program itself has called."""
        return self._stack[0].module if self._stack else None

    def given(self) -> tuple[Any, ...]:
        """What the program itself has given to the module that it called."""
        return self._stack[0].given if self._stack else ()

    def layer(self) -> Object | None:
        """The module of torch's own that is running, if it is the innermost one."""
        if not self._stack:
            return None
        call = self._stack[-1]
        return call.object if call.object.definition is None else None

    def own_call(self) -> Call | None:
        """The call of the innermost module of the program's own that is running."""
        return next((one for one in reversed(self._stack) if one.object.definition is not None), None)

    def own_module(self) -> Object | None:
        """The innermost module of the program's own that is running."""
        call = self.own_call()
        return call.object if call is not None else None

    def path(self) -> str:
        """The path of the module that is running, inside its model."""
        return self.path_of(self._stack[-1].module) if self._stack else ""

    def path_of(self, module: torch.nn.Module) -> str:
        """The path of a module inside the model that is running."""
        root = self.outermost
        if root is None:
            return ""
        names = self._names.get(id(root))
        if names is None or id(module) not in names:
            names = self._names[id(root)] = {id(one): name for name, one in root.named_modules()}
        return names.get(id(module), type(module).__name__)

    def place_of_layer(self, frame: FrameType) -> Place | None:
        """Where the running layer was made, if it is not the program itself that called it."""
        if self._stack:
            call = self._stack[-1]
            if call.is_by_container and call.frame is frame:
                return call.object.at
        return None

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
        call: Call | None = None
        taped: Called | None = None
        result: Any = None
        entered = time.thread_time()
        with recorder.careful:
            call = self._begun(module, args, kwargs)
            taped = recorder.tape.enter(module, args, kwargs)
        began, seen_at = time.thread_time(), recorder.timeline.now
        try:
            if not module.training and isinstance(module, _FAST_IN_EVALUATION):
                with hidden(recorder.mode):
                    result = original(module, *args, **kwargs)
            else:
                result = original(module, *args, **kwargs)
        finally:
            took, seen_until = time.thread_time() - began, recorder.timeline.now
            path = self.path_of(module) if call is not None and recorder.timeline.has_room else ""
            if call is not None:
                self._stack.remove(call)
            if taped is not None:
                with recorder.careful:
                    recorder.tape.leave(taped, result)
        if call is not None and recorder.listens:
            with recorder.careful:
                if call.records:
                    recorder.lives.timed(module, took - call.inner)
                    recorder.timeline.called(path, seen_at, seen_until, len(self._stack))
                    recorder.timeline.gave(path, module, result)
                self._leave(call, self._stack[-1] if self._stack else None, call.frame, args, kwargs, result)
        if self._stack:
            self._stack[-1].inner += time.thread_time() - entered
        return result

    def _begun(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """A module is about to be called."""
        recorder = self._recorder
        recorder.within_torch = False  # an optimizer whose step has raised has left it so
        frame = recorder.frame(3)
        parent = self._stack[-1] if self._stack else None
        same = parent is not None and parent.frame is frame and frame is not None
        by_container = (
            same and parent is not None and frame is not None and parent.instruction == frame.f_lasti
        )
        made = recorder.objects.of(module)
        recorder.direct.look(frame, frame)
        recorder.made_in_forward.called(module, frame)
        call = Call(
            module,
            made,
            frame,
            frame.f_lasti if frame else 0,
            bool(by_container),
            torch.is_grad_enabled(),
            (args, kwargs),
        )
        if parent is None and not is_loss(module):
            if call.records:
                recorder.models.call(module, made, frame, args, kwargs)
            else:
                recorder.steps.unrecorded += 1
        elif parent is not None and parent.records and not call.records:
            place = recorder.at(frame)
            if place is not None:
                recorder.fact(Unrecorded(place), place)
        note_layout(recorder, module, made, frame, args)
        if not by_container and call.records:
            note_unmasked(recorder, module, frame, args, kwargs)
        self._stack.append(call)
        self._note_mode(module)
        return call

    def _note_mode(self, module: torch.nn.Module) -> None:
        """Which layers depend on the mode, and which it is for them now: a program may set it by hand."""
        kind = type(module)
        name = _MODE_DEPENDENT.get(kind)
        if name is None:
            name = _MODE_DEPENDENT[kind] = _mode_dependent(kind)
        if name and _heeds_mode(module, name):
            outermost = self._stack[0]
            outermost.layers.add(id(module))
            if not module.training and id(module) not in outermost.off:
                outermost.off[id(module)] = f"{self.path_of(module) or name} ({name})"

    def _leave(
        self,
        call: Call,
        parent: Call | None,
        frame: FrameType | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
    ) -> None:
        outputs = tensors(result)
        self._recorder.lives.called(call.module, outputs, records=call.records)
        if parent is None:
            self._output(call, frame, args, kwargs, outputs)
        else:
            self._unseen(call, frame, args, kwargs, outputs)

    def _output(
        self,
        call: Call,
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
            Forward,
            frame,
            model,
            module=model,
            inputs=tuple(recorder.graph.value(one) for one in args),
            output=output,
            records=call.records,
            mode=call.module.training,
            layers=len(call.layers),
            off=tuple(call.off.values()),
        )

    def _unseen(
        self,
        call: Call,
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
