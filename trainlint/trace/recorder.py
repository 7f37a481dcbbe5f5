"""What happens in a run, written down as it happens: operations, calls of modules, events, and numbers."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any, TypeVar

import torch
from torch.overrides import TorchFunctionMode

from trainlint.facts import events as ev
from trainlint.facts import step as seen_facts
from trainlint.facts.attention import weights_in
from trainlint.facts.torch_api import (
    ASKED,
    ATTENTION_MASKS,
    AUTOCAST,
    CREATES,
    DROPOUTS,
    IGNORED,
    LOSS_FUNCTIONS,
    MAKES,
    MIXES,
    OPTIMIZER,
    TO_HOST,
    VIEWS,
    Meaning,
)
from trainlint.facts.values import Constant, Named, Object, Op, Value
from trainlint.finding import Place
from trainlint.trace import losses, numbers
from trainlint.trace.batches import BatchSize
from trainlint.trace.careful import Careful
from trainlint.trace.direct_forward import DirectForward
from trainlint.trace.graph import Graph, seen, tensors
from trainlint.trace.loaders import Loaders
from trainlint.trace.masks import Masks
from trainlint.trace.module_calls import ModuleCalls
from trainlint.trace.names import Name
from trainlint.trace.objects import Objects
from trainlint.trace.own_code import OwnCode
from trainlint.trace.pace import Clock
from trainlint.trace.resumes import Resumes
from trainlint.trace.scalers import Scalers
from trainlint.trace.shifts import Shifts
from trainlint.trace.states import States
from trainlint.trace.steps import Steps
from trainlint.trace.texts import Texts

E = TypeVar("E", bound=ev.Event)

_UNSEEDED = 67280421310721
"""What torch's generator begins with where nobody has set a seed."""

_MOST_ALIKE = 8
"""Events of one kind at one place that are kept: the latest."""

_MOST_OPERATIONS = 50_000
"""Operations without any backward pass after which histories are no longer kept: nobody trains on them."""

_MOST_FACTS = 4
"""Facts of one kind at one place that are kept: the first."""

_NOWHERE = Place("", 0, 0, 0, 0)
"""Where a region of autocast begins that no line of the program begins."""

_NUMBERS = frozenset(("item", "tolist", "float_number", "int_number"))
"""Operations that make plain numbers of Python's."""

_TO_HOST = {**{name: name for name in TO_HOST}, "float_number": "float", "int_number": "int"}
"""Operations that hand numbers to Python, and what they are called there."""

_CONVERSIONS = frozenset(
    "to type type_as float double half bfloat16 cpu cuda contiguous requires_grad_".split()
)
"""Operations that may give the same tensor back: it stays what it is."""

_OVERWRITES = frozenset(("setitem", "masked_fill", "where"))
"""Operations that put a value in place of some elements."""

_UNASKED = frozenset(("-", "data"))
"""Frequent operations that rules ask about in the source alone."""

_BY_HAND = frozenset(("+", "-", "sub", "add", "addcdiv", "setitem", "copy", "*"))
"""In-place operations that make an update of a parameter."""


class Recorder:
    """One recording, in one process and one thread.

    Args:
        steps: how many optimizer steps to record.
        root: a folder whose files are the program's own even where it lies among libraries.
        folder: the working directory that the program was started in.
        max_wait: how many backward passes to wait for an optimizer's step.
        ended: called once, when all that was asked for is recorded; None to just stop recording.
        waiting: told, in a few words, what the recording waits for.
    """

    def __init__(
        self,
        *,
        steps: int = 1,
        root: str | None = None,
        folder: str | None = None,
        max_wait: int = 100,
        ended: Callable[[str], None] | None = None,
        waiting: Callable[[str], None] | None = None,
    ) -> None:
        self.own = OwnCode(root, folder)
        self.graph = Graph()
        self.objects = Objects(self.is_own_class)
        self.graph.modules = self.objects.by_module
        self.modules = ModuleCalls(self)
        self.batch = BatchSize(self.graph)
        self.scalers = Scalers(self)
        self.steps = Steps(self, steps, max_wait)
        self.events: list[ev.Event | None] = []
        self.regions: dict[seen_facts.AutocastSeen, set[str]] = {}
        """Regions of autocast, and the devices of the models that were called in them."""
        self._latest_regions: dict[str, seen_facts.AutocastSeen] = {}
        self.autocast: tuple[Object, ...] = ()
        """The regions of autocast that are open, outermost first."""
        self._entered: list[int] = []
        self._region_objects: dict[seen_facts.AutocastSeen, Object] = {}
        self.facts: list[Any] = []
        self.careful = Careful(self.facts)
        self.mode: TorchFunctionMode | None = None
        """Through which torch's functions are seen, while it is installed."""
        self.lines: set[tuple[str, int]] = set()
        self.is_on = False
        self.how = ""
        self.backwards = 0
        self._alike: dict[Any, list[int]] = {}
        self._fact_counts: dict[Any, int] = {}
        self.masks = Masks(self)
        self.shifts = Shifts(self)
        self.states = States(self)
        self.resumes = Resumes(self)
        self.direct = DirectForward(self)
        self.loaders = Loaders(self)
        self.texts = Texts(self)
        self.clock = Clock()
        self._own_classes: dict[type, bool] = {}
        self._thread = threading.get_ident()
        self._process = os.getpid()
        self._ended = ended
        self._waiting = waiting
        self._phase = ""
        self.is_broken = False
        self.operations = 0
        """Operations since the last backward pass."""

    # The state of the recording

    @property
    def listens(self) -> bool:
        """Whether what happens now belongs to the recording."""
        return (
            self.is_on
            and not self.is_in_another_thread
            and not torch._C._is_tracing()  # by torch.jit: it would write our doings down too
        )

    @property
    def is_in_another_thread(self) -> bool:
        """Whether the thread at work is not the one that is recorded."""
        return threading.get_ident() != self._thread

    @property
    def is_seeded(self) -> bool:
        """Whether the program has set torch's seed."""
        return torch.initial_seed() != _UNSEEDED

    def end(self, how: str) -> None:
        """Stop listening, for good."""
        if self.how:
            return
        self.how = how
        self.is_on = False
        if self._ended is not None:
            self._ended(how)

    def forked(self) -> None:
        """This is another process now, such as a loader's worker."""
        self.is_on = False
        self.how = self.how or "forked"
        self._ended = None

    def phase(self, text: str) -> None:
        if text != self._phase:
            self._phase = text
            if self._waiting is not None:
                self._waiting(text)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do something with tensors that is not the program's doing."""
        with torch._C.DisableTorchFunction(), torch.no_grad():
            yield

    # Places

    def frame(self, depth: int = 1) -> FrameType | None:
        """The program's frame that is at work, above the caller."""
        return self.own.innermost(sys._getframe(depth + 1))

    def at(self, frame: FrameType | None) -> Place | None:
        """Where the program is: the line of its own that is at work, or the layer that a container called."""
        if frame is None:
            return None
        made = self.modules.place_of_layer(frame)
        place = made if made is not None else self.own.place(frame)
        self.lines.add((place.path, place.line))
        return place

    # Events and facts

    def emit(self, kind: type[E], frame: FrameType | None, about: object = None, **fields: Any) -> E | None:
        """Something happened. Of events that are alike, at one place and about one thing, the first and the latest are kept."""
        place = self.at(frame)
        if place is None:
            return None
        event = kind(at=place, calls=self.own.calls(frame), autocast=self.autocast, **fields)
        self.lines.update((call.path, call.line) for call in event.calls)
        subject: object = id(about)
        if isinstance(about, Object) and about.is_a(OPTIMIZER) and kind is not ev.Built:
            subject = about.at  # those that one place builds, one after the other, act as one
        alike = self._alike.setdefault((kind, place, subject), [])
        alike.append(len(self.events))
        self.events.append(event)
        if len(alike) > _MOST_ALIKE:
            self.events[alike.pop(_MOST_ALIKE // 2)] = None
        return event

    def fact(self, fact: Any, key: object) -> None:
        """A fact of the step. Of those with one key, the first are kept."""
        count = self._fact_counts.get((type(fact), key), 0)
        if count < _MOST_FACTS:
            self._fact_counts[type(fact), key] = count + 1
            self.facts.append(fact)

    def wants(self, kind: type, key: object) -> bool:
        """Whether another fact of a kind would be kept."""
        return self._fact_counts.get((kind, key), 0) < _MOST_FACTS

    # Operations

    def operation(
        self, name: Name, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any, depth: int = 2
    ) -> None:
        """A function of torch's gave a result."""
        frame = self.frame(depth)
        self.direct.look(sys._getframe(depth), frame)
        self.operations += 1
        is_remembered = self.operations < _MOST_OPERATIONS
        inputs = tuple(self.graph.value(one) for one in args) if is_remembered else ()
        options = self.graph.options(kwargs) if kwargs and is_remembered else {}
        records = torch.is_grad_enabled()
        op = Op(
            name=name.text,
            inputs=inputs[::-1] if name.reflected else inputs,
            options=options,
            at=self.at(frame),
            owner=self.modules.layer(),
            records=records,
            in_place=name.in_place,
            autocast=self.autocast,
        )
        if isinstance(result, torch.Tensor):
            op.attached, op.seen = result.requires_grad, seen(result)
            if not (name.text in _CONVERSIONS and args and result is args[0]):
                self.graph.note(result, op)
            self._look(name, op, args, kwargs, result, frame)
        elif name.in_place and args and isinstance(args[0], torch.Tensor):  # `x[i] = …` gives None
            op.attached, op.seen = args[0].requires_grad, seen(args[0])
            self.graph.note(args[0], op)
            self.masks.operation(name.text, op, args, kwargs, args[0])
        elif isinstance(result, (tuple, list)):
            found = [one for one in result if isinstance(one, torch.Tensor)]
            op.attached = any(one.requires_grad for one in found)
            for position, one in enumerate(result):
                if isinstance(one, torch.Tensor):
                    part = Op(
                        name="getitem",
                        inputs=(op,),
                        options={"index": Constant(value=position)},
                        at=op.at,
                        records=records,
                        attached=one.requires_grad,
                        seen=seen(one),
                    )
                    self.graph.note(one, part)
            if found:
                self._look(name, op, args, kwargs, found[0], frame)
        elif name.text == "numpy":
            op.attached = False
            self.graph.shares(args[0], op)
        elif name.text in _NUMBERS and op.at is not None and args[0].requires_grad:
            self.fact(seen_facts.Numbered(op.at), op.at)
        if name.text in _TO_HOST and inputs:
            self.emit(
                ev.ToHost,
                frame,
                None,
                name=_TO_HOST[name.text],
                tensor=inputs[0],
                module=self.modules.own_module(),
                records=records,
            )
        if len(op.inputs) > 2 and name.text in _OVERWRITES:
            self._overwritten(name.text, op, args, frame)
        if name.text == "+" and frame is not None and self.own.is_augmented(frame) and _starts_over(op):
            value = op.inputs[1] if isinstance(op.inputs[1], Op) else op.inputs[0]
            self.emit(ev.Accumulated, frame, None, value=value, result=op)
        if name.text in ("requires_grad_", "set requires_grad") and inputs:
            wanted = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
            if wanted or isinstance(
                args[0], torch.nn.Parameter
            ):  # loaders say "no" of every tensor they pass
                self.emit(
                    ev.RequiresGrad,
                    frame,
                    target=inputs[0],
                    wanted=Constant(value=wanted),
                    assignment=name.text == "set requires_grad",
                )
        elif name.text in ("data", "detach") and isinstance(result, torch.Tensor):
            self.graph.shares(args[0], op)
        elif name.in_place and not self.steps.inside and name.text in _BY_HAND:
            self.steps.changed_in_place(args, inputs, frame)

    def _overwritten(self, name: str, op: Op, args: Sequence[Any], frame: FrameType | None) -> None:
        """Some elements are replaced: of labels, perhaps, by what losses ignore."""
        at = next((n for n in (1, 2) if isinstance(args[n], int) and args[n] == IGNORED), None)
        if at is not None:
            labels, where = (3 - at, 0) if name == "where" else (0, 1)
            self.emit(ev.Ignored, frame, None, labels=op.inputs[labels], where=op.inputs[where])

    def _look(
        self,
        name: Name,
        op: Op,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: torch.Tensor,
        frame: FrameType | None,
    ) -> None:
        """Measure what rules ask of some operations."""
        text = name.text
        if text == "pad_sequence" and op.seen is not None:
            given = tensors(list(args[:1]))
            op.seen.numbers["padded"] = float(result.numel() - sum(one.numel() for one in given))
        if text in LOSS_FUNCTIONS:
            self.loss(text, op, args, kwargs, result, frame)
        elif text == "log_softmax":
            self._own_loss(op, args, frame)
        elif text == "relu" and op.owner is None:
            self.modules.rectified(op, result)
        elif text in DROPOUTS and op.owner is None:
            self.modules.dropped(op, frame)
        elif text == "batch_norm" and op.owner is not None:
            self.emit(ev.Normalised, frame, op.owner, output=op)
        if text in ASKED and text not in _UNASKED and (text not in VIEWS or len(result.shape) > 2):
            self.emit(ev.Operation, frame, None, output=op)
        elif text in MIXES and (weights := weights_in(op)) is not None:
            self.emit(ev.Attended, frame, None, weights=weights, output=op)
        elif text in ATTENTION_MASKS:
            self._attention_called(text, op, frame)
        self.masks.operation(text, op, args, kwargs, result)
        if text in MAKES and op.seen is not None and result.requires_grad:
            op.seen = replace(op.seen, node=type(result.grad_fn).__name__)
        if (self.modules.is_training_forward or result.requires_grad) and not numbers.is_finite(result):
            self._not_finite(text, op, args, kwargs, result)

    def _attention_called(self, name: str, op: Op, frame: FrameType | None) -> None:
        """Attention is called, by the program or by a layer of torch's that the program calls: there it gives the masks."""
        called = self.emit(ev.AttentionCall, frame, None, name=name, output=op)
        if called is not None and frame is not None:
            called.at = self.own.place(frame)
            self.lines.add((called.at.path, called.at.line))

    def _not_finite(
        self, text: str, op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], result: torch.Tensor
    ) -> None:
        """A result holds NaN or infinities: were they in what went in?"""
        given = [
            one for one in tensors([*args, *kwargs.values()]) if one.is_floating_point() and one is not result
        ]
        if op.seen is not None:
            op.seen.numbers["not finite"] = 1.0
            op.seen.numbers["made of finite numbers"] = float(all(map(numbers.is_finite, given)))
        if not self.is_broken and self.modules.is_training_forward and numbers.has_nan(result):
            self.is_broken = True
            if not any(numbers.has_nan(one) for one in given):
                self.facts.append(
                    seen_facts.NonFinite(op.at, text, text, self.modules.path(), "nan", tuple(result.shape))
                )

    def loss(
        self,
        function: str,
        op: Op,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: torch.Tensor,
        frame: FrameType | None,
    ) -> None:
        op.seen = losses.measured(function, args, kwargs, result)
        self._loss_called(function, op, args, frame)
        self.batch.of_loss(function, args, kwargs)
        self.shifts.loss_computed(args, kwargs, op.at)
        given = list(args[:2]) + [kwargs[key] for key in ("input", "target") if key in kwargs]
        if op.at is not None and len(given) > 1 and isinstance(given[1], torch.Tensor):
            self.batch_seen(given[1], op.at, "target", "1", f"F.{function}", ())

    def _loss_called(self, function: str, op: Op, args: Sequence[Any], frame: FrameType | None) -> None:
        name = f"F.{function}" if op.owner is None else op.owner.type.removeprefix("torch.")
        for value, tensor in zip(op.inputs[:2], args[:2], strict=False):
            if isinstance(value, Op) and isinstance(tensor, torch.Tensor):
                before = value.seen or seen(tensor)
                value.seen = losses.of_input(function, tensor)
                value.seen.numbers.update(before.numbers)
                value.seen = replace(value.seen, node=before.node)
        self.emit(
            ev.LossCall,
            frame,
            name=name,
            function=function,
            expects=LOSS_FUNCTIONS[function],
            output=op,
            built=op.owner.at if op.owner is not None else None,
        )

    def _failed_loss(
        self, function: str, args: Sequence[Any], kwargs: Mapping[str, Any], frame: FrameType | None
    ) -> None:
        """A loss that raised has no result, but what it was given is known."""
        inputs = tuple(self.graph.value(one) for one in args)
        op = Op(
            name=function,
            inputs=inputs,
            options=self.graph.options(kwargs),
            at=self.at(frame),
            owner=self.modules.layer(),
        )
        self._loss_called(function, op, args, frame)

    def _own_loss(self, op: Op, args: Sequence[Any], frame: FrameType | None) -> None:
        """A log-softmax makes the program's own module or function a loss, or the end of a model."""
        if frame is None:
            return
        if op.inputs and isinstance(args[0], torch.Tensor) and isinstance(op.inputs[0], Op):
            op.inputs[0].seen = losses.of_input("log_softmax", args[0])
        module = self.modules.own_module()
        self.emit(
            ev.LossCall,
            frame,
            name=module.type if module is not None else frame.f_code.co_name,
            function="log_softmax",
            expects=Meaning.LOGITS,
            output=op,
            built=module.at if module is not None else None,
        )

    def batch_seen(
        self, tensor: torch.Tensor, at: Place, role: str, name: str, to: str, weights: tuple[str, ...]
    ) -> None:
        """A tensor that a trained model or its loss is given."""
        key = (at, role, name)
        if not self.wants(seen_facts.BatchSeen, key):
            return
        with self.aside():
            found = numbers.spread(tensor)
        look = seen(tensor)
        same = found is not None and found.smallest == found.largest and tensor.numel() > 1
        self.fact(
            seen_facts.BatchSeen(
                at,
                role,
                name,
                to,
                look.shape,
                look.dtype,
                look.device,
                found,
                same,
                weights,
                tensor.requires_grad,
            ),
            key,
        )

    def failed(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], error: BaseException) -> None:
        """An operation raised."""
        frame = self.frame(2)
        place = self.at(frame)
        if place is None or not isinstance(error, Exception):
            return
        if name in LOSS_FUNCTIONS:
            self._failed_loss(name, args, kwargs, frame)
        with self.aside():
            self.masks.failed(name, args, kwargs, place)
        given = tensors([*args, *kwargs.values()])
        whole = next((one for one in given if not one.is_floating_point() and one.numel()), None)
        with self.aside():
            found = numbers.spread(whole) if whole is not None and not whole.is_complex() else None
        culprit = self.steps.culprit(str(error)) if name == "backward" else None
        self.fact(
            seen_facts.Failure(
                place,
                name,
                name,
                type(error).__name__,
                str(error),
                tuple((look.shape, look.dtype, look.device) for look in map(seen, given)),
                found.smallest if found else None,
                found.largest if found else None,
                culprit.at if culprit is not None else None,
                culprit.name if culprit is not None else "",
            ),
            place,
        )

    def autocast_begins(self, region: Any, frame: FrameType | None) -> None:
        """A region of autocast begins."""
        place = self.at(frame)
        dtype = str(getattr(region, "fast_dtype", "")).removeprefix("torch.")
        begun = seen_facts.AutocastSeen(
            place or _NOWHERE, str(region.device), dtype, bool(getattr(region, "_enabled", True))
        )
        made = self._region_objects.get(begun)
        if made is None:
            made = self._region_objects[begun] = _region(begun, place)
        self._entered.append(id(region))
        self.autocast = (*self.autocast, made)
        if place is not None:
            self.regions.setdefault(begun, set())
            self._latest_regions[begun.device] = begun

    def autocast_ends(self, region: Any) -> None:
        """A region of autocast is left."""
        if self._entered and self._entered[-1] == id(region):
            self._entered.pop()
            self.autocast = self.autocast[:-1]

    def called_in_regions(self, devices: Iterable[str]) -> None:
        """A model with parameters on these devices is called, in whatever regions of autocast are open."""
        for device, region in self._latest_regions.items():
            if region.enabled and torch.is_autocast_enabled(device):
                self.regions[region].update(devices)

    def seen_regions(self) -> list[seen_facts.AutocastSeen]:
        return [replace(region, models=tuple(sorted(models))) for region, models in self.regions.items()]

    # Classes

    def is_own_class(self, kind: type) -> bool:
        known = self._own_classes.get(kind)
        if known is None:
            module = sys.modules.get(kind.__module__)
            file = getattr(module, "__file__", None)
            known = True if kind.__module__ == "__main__" else file is not None and self.own.is_own_file(file)
            self._own_classes[kind] = known
        return known


def _region(seen: seen_facts.AutocastSeen, at: Place | None) -> Object:
    is_there = seen.device != "cuda" or torch.cuda.is_available()
    options: dict[str, Value] = {
        "device_type": Constant(value=seen.device),
        "dtype": Named(name=f"torch.{seen.dtype}"),
        "available": Constant(value=is_there),
    }
    if is_there:
        options["enabled"] = Constant(value=seen.enabled)
    return Object(type=AUTOCAST, bases=frozenset((AUTOCAST,)), at=at, options=options)


def _starts_over(op: Op) -> bool:
    """Whether a sum goes on from the round before, or from 0."""
    for one in op.inputs:
        if isinstance(one, Constant) and one.value == 0:
            return True
        if isinstance(one, Op) and (one.at == op.at or one.name in CREATES):
            return True
    return False
