"""Operations: what each function of torch's was given and gave, and what rules ask of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.api.attention import ATTENTION_MASKS, MIXES
from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.api.layers import DROPOUTS
from trainlint.facts.api.losses import IGNORED, LOSS_FUNCTIONS
from trainlint.facts.api.meanings import MAKES
from trainlint.facts.api.operations import ASKED, CREATES, TO_HOST, VIEWS
from trainlint.facts.ask.attention import weights_in
from trainlint.facts.ask.recurrent import recurrent_state
from trainlint.facts.model.events.batches import Ignored
from trainlint.facts.model.events.forwards import Dropped, Normalised
from trainlint.facts.model.events.losses import Accumulated
from trainlint.facts.model.events.operations import Attended, AttentionCall, Operation, ToHost
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.values import Constant, Op
from trainlint.facts.seen.blind_spots import MadeOfNumbers, Numbered
from trainlint.finding import Place
from trainlint.trace.watch.clipping import CLAMPS
from trainlint.trace.watch.graph import seen, tensors
from trainlint.trace.watch.names import Name
from trainlint.trace.watch.rectifiers import (
    FLAT_ENDS,
    RECTIFIERS,
    is_rectifier,
    note_flattened,
    note_rectified,
)
from trainlint.trace.watch.weight_lost import note_weight_lost

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST = 50_000
"""Operations without any backward pass after which histories are no longer kept: nobody trains on them."""

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


class Operations:
    """Writes down the functions of torch's that the program calls."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.since_backward = 0
        self._has_numbers = False

    def returned(self, name: Name, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """A function of torch's gave a result; the program's call of it is two frames up."""
        recorder = self._recorder
        frame = recorder.frame(2)
        recorder.direct.look(sys._getframe(2), frame)
        self.since_backward += 1
        op = self._op(name, args, kwargs, frame)
        self._result(name, op, args, kwargs, result, frame)
        if name.text in _TO_HOST and op.inputs:
            recorder.emit(
                ToHost,
                frame,
                None,
                name=_TO_HOST[name.text],
                tensor=op.inputs[0],
                module=recorder.modules.own_module(),
                records=op.records,
            )
        if len(op.inputs) > 2 and name.text in _OVERWRITES:
            self._overwritten(name.text, op, args, frame)
        if name.text == "+" and frame is not None and recorder.own.is_augmented(frame) and _starts_over(op):
            value = op.inputs[1] if isinstance(op.inputs[1], Op) else op.inputs[0]
            recorder.emit(Accumulated, frame, None, value=value, result=op)
        if name.text in ("requires_grad_", "set requires_grad") and op.inputs:
            self._gradient_wanted(name.text, op, args, kwargs, frame)
        elif name.text in ("data", "detach") and isinstance(result, torch.Tensor):
            recorder.graph.shares(args[0], op)
        elif name.in_place and not recorder.steps.inside and name.text in _BY_HAND:
            recorder.steps.by_hand.changed_in_place(args, op.inputs, frame)
        elif name.in_place and name.text in CLAMPS and isinstance(args[0], torch.Tensor):
            recorder.clipping.clamped(args[0], frame)

    def _op(self, name: Name, args: Sequence[Any], kwargs: Mapping[str, Any], frame: FrameType | None) -> Op:
        recorder = self._recorder
        is_remembered = self.since_backward < _MOST
        inputs = tuple(recorder.graph.value(one) for one in args) if is_remembered else ()
        return Op(
            name=name.text,
            inputs=inputs[::-1] if name.reflected else inputs,
            options=recorder.graph.options(kwargs) if kwargs and is_remembered else {},
            at=recorder.at(frame),
            owner=recorder.modules.layer(),
            records=torch.is_grad_enabled(),
            in_place=name.in_place,
            autocast=recorder.autocast.open,
        )

    def _result(
        self,
        name: Name,
        op: Op,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: Any,
        frame: FrameType | None,
    ) -> None:
        """Remember which operation made each tensor of a result."""
        recorder = self._recorder
        if isinstance(result, torch.Tensor):
            op.attached, op.seen = result.requires_grad, seen(result)
            if self._has_numbers and name.text in REBUILDS and op.at is not None and not tensors(list(args)):
                recorder.fact(MadeOfNumbers(op.at), op.at)
            if not (name.text in _CONVERSIONS and args and result is args[0]):
                recorder.graph.note(result, op)
            self._look(name.text, op, args, kwargs, result, frame)
        elif name.in_place and args and isinstance(args[0], torch.Tensor):  # `x[i] = …` gives None
            op.attached, op.seen = args[0].requires_grad, seen(args[0])
            recorder.graph.note(args[0], op)
            recorder.masks.operation(name.text, op, args, kwargs, args[0])
        elif isinstance(result, (tuple, list)):
            found = [one for one in result if isinstance(one, torch.Tensor)]
            op.attached = any(one.requires_grad for one in found)
            for position, one in enumerate(result):
                if isinstance(one, torch.Tensor):
                    recorder.graph.note(one, _part(op, position, one))
            if found:
                self._look(name.text, op, args, kwargs, found[0], frame)
        elif name.text == "numpy":
            op.attached = False
            recorder.graph.shares(args[0], op)
        elif name.text in _NUMBERS and op.at is not None:
            self._became_a_number(op, op.at, args[0])

    def _became_a_number(self, op: Op, at: Place, tensor: torch.Tensor) -> None:
        cut = op.inputs[0] if op.inputs else None
        is_detached = isinstance(cut, Op) and cut.name in ("detach", "data")
        before = cut.inputs[0] if is_detached and isinstance(cut, Op) and cut.inputs else None
        if tensor.requires_grad or (isinstance(before, Op) and before.attached):
            self._has_numbers = True
            self._recorder.fact(Numbered(at, detached=not tensor.requires_grad), at)

    def _overwritten(self, name: str, op: Op, args: Sequence[Any], frame: FrameType | None) -> None:
        """Some elements are replaced: of labels, perhaps, by what losses ignore."""
        at = next((n for n in (1, 2) if isinstance(args[n], int) and args[n] == IGNORED), None)
        if at is not None:
            labels, where = (3 - at, 0) if name == "where" else (0, 1)
            self._recorder.emit(Ignored, frame, None, labels=op.inputs[labels], where=op.inputs[where])

    def _gradient_wanted(
        self, name: str, op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], frame: FrameType | None
    ) -> None:
        """Loaders say "no" of every tensor that they pass: that counts for parameters alone."""
        wanted = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
        if wanted or isinstance(args[0], torch.nn.Parameter):
            self._recorder.emit(
                RequiresGrad,
                frame,
                target=op.inputs[0],
                wanted=Constant(value=wanted),
                assignment=name == "set requires_grad",
            )

    def _look(
        self,
        name: str,
        op: Op,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: torch.Tensor,
        frame: FrameType | None,
    ) -> None:
        """Measure what rules ask of some operations."""
        recorder = self._recorder
        if name == "pad_sequence" and op.seen is not None:
            given = tensors(list(args[:1]))
            op.seen.numbers["padded"] = float(result.numel() - sum(one.numel() for one in given))
        if name in LOSS_FUNCTIONS:
            recorder.losses.computed(name, op, args, kwargs, result, frame)
        elif name == "log_softmax":
            recorder.losses.of_log_softmax(op, args, frame)
        elif name in FLAT_ENDS and op.owner is None:
            note_flattened(recorder, op, result)
        elif name in RECTIFIERS and op.owner is None and is_rectifier(op):
            note_rectified(recorder, op, result)
        elif name in DROPOUTS and op.owner is None:
            self._dropped(op, frame)
        elif name == "*":
            note_weight_lost(recorder, op, args)
        elif name == "batch_norm" and op.owner is not None:
            recorder.emit(Normalised, frame, op.owner, output=op)
        if name in ASKED and name not in _UNASKED and (name not in VIEWS or _may_mix(op, result)):
            recorder.emit(Operation, frame, None, output=op)
        elif name in MIXES and (weights := weights_in(op)) is not None:
            recorder.emit(Attended, frame, None, weights=weights, output=op)
        elif name in ATTENTION_MASKS:
            self._attention_called(name, op, frame)
        recorder.masks.operation(name, op, args, kwargs, result)
        if name in MAKES and op.seen is not None and result.requires_grad:
            op.seen = replace(op.seen, node=type(result.grad_fn).__name__)
        if not recorder.steps.inside:
            recorder.non_finite.in_result(name, op, args, kwargs, result)

    def _dropped(self, op: Op, frame: FrameType | None) -> None:
        """A function with dropout in it was called."""
        call = self._recorder.modules.own_call()
        if call is not None:
            self._recorder.emit(
                Dropped,
                frame,
                call.object,
                function=op.name,
                share=op.option(*DROPOUTS[op.name]),
                training=op.options.get("training"),
                module=call.object,
                mode=call.module.training,
            )

    def _attention_called(self, name: str, op: Op, frame: FrameType | None) -> None:
        """Attention is called, by the program or by a layer of torch's that the program calls: there it gives the masks."""
        recorder = self._recorder
        called = recorder.emit(AttentionCall, frame, None, name=name, output=op)
        if called is not None and frame is not None:
            called.at = recorder.own.place(frame)
            recorder.lines.add((called.at.path, called.at.line))


def _part(op: Op, position: int, tensor: torch.Tensor) -> Op:
    """One tensor of several that an operation has given."""
    return Op(
        name="getitem",
        inputs=(op,),
        options={"index": Constant(value=position)},
        at=op.at,
        records=op.records,
        attached=tensor.requires_grad,
        seen=seen(tensor),
    )


def _may_mix(view: Op, result: torch.Tensor) -> bool:
    """Whether a view is looked at: it has three axes or more, or those of a recurrent layer's states are merged."""
    return len(result.shape) > 2 or (bool(view.inputs) and recurrent_state(view.inputs[0]) is not None)


def _starts_over(op: Op) -> bool:
    """Whether a sum goes on from the iteration before, or from 0."""
    for one in op.inputs:
        if isinstance(one, Constant) and one.value == 0:
            return True
        if isinstance(one, Op) and (one.at == op.at or one.name in CREATES):
            return True
    return False
