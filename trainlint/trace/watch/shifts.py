"""Whether the targets of a loss are a model's own inputs, some steps on. Looks at tensors, keeps none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from trainlint.facts.model.values import Value
from trainlint.facts.seen.targets import Padding, Prompts
from trainlint.finding import Place
from trainlint.trace.measure.again import arguments, had_again
from trainlint.trace.watch.first_output import first_output
from trainlint.trace.watch.padding import Targets, padding_of
from trainlint.trace.watch.prompts import prompts_of

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST_TRIES = 12
_ENOUGH = 8
"""Positions that have to agree."""


_LABELS = frozenset("labels label targets target lm_labels y gold".split())
"""What models call arguments that are not read, but compared with."""


class Shift(NamedTuple):
    """An input of a model of which the targets are a part.

    Args:
        name: position or keyword of the input.
        axis: along which it is shifted.
        first: the first position of the outputs that counts in the loss, over all samples.
        steps: by how many positions the targets are ahead of the inputs that stand where the outputs stand; 1 where the
            model is trained to continue its input.
        positions: how many were compared.
        next: how many of the targets are the next input.
        at: where the loss is computed.
    """

    name: str
    axis: int
    first: int
    steps: int = 1
    positions: int = 0
    next: int = 0
    at: Place | None = None


class Shifts:
    """The shifts that were found, by `id` of the model."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._tries = 0
        self.found: dict[int, Shift] = {}
        """By one position, as it should be."""
        self.others: dict[int, Shift] = {}
        """By none, or by two."""

    def loss_computed(self, args: Sequence[Any], kwargs: Mapping[str, Any], at: Place | None) -> None:
        """A loss compares with this target."""
        target = kwargs.get("target", args[1] if len(args) > 1 else None)
        if self._tries >= _MOST_TRIES or not isinstance(target, torch.Tensor) or target.numel() < _ENOUGH:
            return
        ignored = kwargs.get("ignore_index", -100)
        inputs = self._recorder.models.inputs
        prediction = kwargs.get("input", args[0] if args else None)
        compared = self._recorder.graph.value(prediction)
        for model, given in inputs.items():
            known = self.found.get(model)
            shift = self._found(model, compared, target, ignored, given, at) if known is None else known
            if shift is not None and shift.steps == 1:
                self.found[model] = shift
                if at is not None and _is_plain(args, kwargs):
                    self._look_at_tokens(model, given, shift, args, target, ignored, at)
            elif shift is not None:
                self.others.setdefault(model, shift)

    def _found(
        self,
        model: int,
        compared: Value,
        target: torch.Tensor,
        ignored: Any,
        given: tuple[Any, Any],
        at: Place | None,
    ) -> Shift | None:
        """How the target is made of a model's inputs; the next input counts for more than others."""
        other = None
        called = self._recorder.models.called[model]()
        for name, value in arguments(*given):
            tensor = had_again(value)
            if (
                isinstance(tensor, torch.Tensor)
                and _parameter(called, name) not in _LABELS
                and self._is_worth_it(tensor, target)
            ):
                with self._recorder.aside():
                    shift = _shift(name, tensor, compared, target, ignored)
                if shift is not None and shift.steps == 1:
                    return shift._replace(at=at)
                if shift is not None and not tensor.is_floating_point():
                    other = other or shift._replace(at=at)
        return other

    def _look_at_tokens(
        self,
        key: int,
        given: tuple[Any, Any],
        shift: Shift,
        args: Sequence[Any],
        target: torch.Tensor,
        ignored: Any,
        at: Place,
    ) -> None:
        model = self._recorder.models.called[key]()
        tokens = had_again(dict(arguments(*given)).get(shift.name))
        if model is None or not isinstance(tokens, torch.Tensor) or tokens.is_floating_point():
            return
        laid_out = _laid_out(tokens, target, shift.axis)
        wants_padding, wants_prompts = self._recorder.wants(Padding, at), self._recorder.wants(Prompts, at)
        if laid_out is None or not (wants_padding or wants_prompts):
            return
        with self._recorder.aside():
            wanted = laid_out.narrow(
                shift.axis, 0, min(laid_out.shape[shift.axis], tokens.shape[shift.axis] - 1)
            )
            targets = Targets(tokens, wanted, wanted != ignored, shift.axis, ignored, args[0].shape[1])
            padding = padding_of(targets, model, given[1], at) if wants_padding else None
            prompts = (
                prompts_of(tokens, laid_out != ignored, self._recorder.texts.decoded, at)
                if wants_prompts and shift.axis == 1
                else None
            )
        for found in (padding, prompts):
            if found is not None:
                self._recorder.fact(found, at)

    def _is_worth_it(self, tensor: torch.Tensor, target: torch.Tensor) -> bool:
        if tensor.dim() < 2 or min(tensor.shape[:2]) < 1 or tensor.device != target.device:
            return False
        if tensor.is_floating_point() != target.is_floating_point() or tensor.is_complex():
            return False
        axes = range(min(tensor.dim(), 3) if tensor.is_floating_point() else 2)
        alike = any(_laid_out(tensor, target, axis) is not None for axis in axes)
        self._tries += alike
        return alike


def _parameter(model: torch.nn.Module | None, name: str) -> str:
    """What a model calls an argument that was given by position."""
    if not name.isdigit():
        return name
    code = getattr(getattr(model, "forward", None), "__code__", None)
    names: tuple[str, ...] = code.co_varnames[1 : code.co_argcount] if code is not None else ()
    return names[int(name)] if int(name) < len(names) else name


def _is_plain(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a loss over classes counts all that it does not ignore, one like the other."""
    return (
        torch.is_grad_enabled()
        and isinstance(kwargs.get("ignore_index", -100), int)
        and kwargs.get("reduction", "mean") != "none"
        and (args[2] if len(args) > 2 else kwargs.get("weight")) is None
        and bool(args)
        and isinstance(args[0], torch.Tensor)
        and args[0].dim() > 1
    )


def _shift(
    name: str, tensor: torch.Tensor, compared: Value, target: torch.Tensor, ignored: Any
) -> Shift | None:
    is_series = tensor.dim() == 3 and tensor.is_floating_point()  # channels may come before positions
    for axis in (1, 0, 2) if is_series else (1, 0):
        laid_out = _laid_out(tensor, target, axis)
        dropped = first_output(compared, tensor.shape[axis]) if laid_out is not None else None
        if laid_out is None or dropped is None:
            continue
        for steps in (1, 0, 2) if axis < 2 else (1,):
            length = min(laid_out.shape[axis], tensor.shape[axis] - dropped - max(steps, 1))
            if length < 1:
                continue
            wanted = laid_out.narrow(axis, 0, length)
            counts = (
                wanted != ignored if isinstance(ignored, int) else torch.ones_like(wanted, dtype=torch.bool)
            )
            differ = ((wanted != tensor.narrow(axis, dropped + steps, length)) & counts).any()
            beside = tensor.narrow(axis, dropped + (0 if steps else 1), length)
            moves = ((wanted != beside) & counts).sum()
            if bool(differ) or int(moves) < _ENOUGH:
                continue
            then = tensor.narrow(axis, dropped + 1, length)
            if steps == 2 and int(((wanted != then) & counts).sum()) < _ENOUGH:
                continue
            positions = counts.movedim(axis, 0).flatten(1).any(dim=1).nonzero()
            total, equal = int(counts.sum()), int(((wanted == then) & counts).sum())
            first = dropped + int(positions[0])
            return Shift(name, axis, first, steps, total, equal)
    return None


def _laid_out(tensor: torch.Tensor, target: torch.Tensor, axis: int) -> torch.Tensor | None:
    """The target in the shape of an input, or of an input that is one step shorter."""
    for length in (tensor.shape[axis], tensor.shape[axis] - 1):
        shape = list(tensor.shape)
        shape[axis] = length
        if length >= 2 and target.numel() == torch.Size(shape).numel():
            return target.detach().reshape(shape)
    return None
