"""Experiments on copies of the models, after the recorded step."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch

from trainlint.facts import events as ev
from trainlint.facts.step import Aligned, Probe
from trainlint.finding import Place
from trainlint.trace.again import LOST, arguments, changed, had_again, leaves
from trainlint.trace.copies import Copy, Keep, Ran, culprit, unnoticed
from trainlint.trace.own_state import unchanged
from trainlint.trace.recorder import Recorder
from trainlint.trace.shifts import Shift

_MOST_ELEMENTS = 200_000_000
"""Parameters of a model beyond which it is not copied."""

_MOST_MODELS = 4
_MOST_SAMPLES = 4
_WATCHED = 1
"""The sample that must not change; it has others on both sides, for what passes along the batch in one direction."""

_LONGEST = 10.0
"""Seconds after which no other run is begun."""

_NOISE = {torch.float64: 1e-6, torch.float32: 1e-4}
_NOISE_OF_HALVES = 3e-2
_RANDOM = 1e-2
"""Change of an output, beside its size, that is no matter of rounding."""

_NOTHING = 1e-5
"""A change of less than this, beside the size of the output, is none."""

_ON_PURPOSE = re.compile(
    r"mini_?batch|batch_?(std|disc|norm)|std_?dev|intersample|mo_?e|expert|router|quant", re.IGNORECASE
)
"""Names of classes that mix samples because they are meant to."""


class _Given(NamedTuple):
    """A model and what it was called with last."""

    model: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    at: Place


class _Compared(NamedTuple):
    """The largest change of what must not change, and of the rest."""

    change: float
    scale: float
    leaked: bool


def experiments(recorder: Recorder) -> Iterator[Probe | Aligned]:
    """What each experiment has shown; nothing of those that could not be made."""
    until = time.monotonic() + _LONGEST
    for given in itertools.islice(_models(recorder), _MOST_MODELS):
        shift = recorder.shifts.found.get(id(given.model))
        other = recorder.shifts.others.get(id(given.model)) if shift is None else None
        for make in (
            partial(_causal, given=given, shift=shift) if shift is not None else None,
            partial(_aligned, given=given, shift=shift or other) if shift or other else None,
            partial(_batch, given=given, size=recorder.batch.size),
            partial(_repeat, given=given) if recorder.is_seeded else None,
        ):
            found = None
            if make is not None and time.monotonic() < until:
                with recorder.aside(), unnoticed():
                    try:
                        found = make(recorder)
                    except (
                        Exception,
                        SystemExit,
                    ):  # the program's own code, called with what it may not expect
                        found = None
            if found is not None:
                yield found


def _models(recorder: Recorder) -> Iterator[_Given]:
    """The models that the program called, with inputs that can be had again."""
    spread = torch.distributed.is_available() and torch.distributed.is_initialized()
    if spread and torch.distributed.get_world_size() > 1:
        return
    places = {
        id(event.module): event.at
        for event in recorder.events
        if isinstance(event, ev.Forward) and event.records
    }
    for key, held in recorder.modules.roots.items():
        model, inputs = held(), recorder.modules.inputs.get(key)
        if model is None or inputs is None:
            continue
        at = places.get(id(recorder.objects.of(model)))
        args, kwargs = had_again(inputs[0]), had_again(inputs[1])
        if at is None or any(one is LOST for one in leaves([args, kwargs])):
            continue
        parameters = list(model.parameters())
        if any(type(one.data) is not torch.Tensor for one in parameters):
            continue
        if sum(one.numel() for one in parameters) <= _MOST_ELEMENTS:
            yield _Given(model, args, kwargs, at)


# Do outputs depend on later inputs?


def _causal(recorder: Recorder, given: _Given, shift: Shift) -> Probe | None:
    tokens = dict(arguments(given.args, given.kwargs))[shift.name]
    others = 1 - shift.axis
    count = tokens.shape[others]
    few = partial(_narrowed, axis=others, count=count, to=_MOST_SAMPLES)
    copy = Copy(given.model)
    for smaller in (few, None) if count > _MOST_SAMPLES else (None,):
        args, kwargs = (
            (given.args, given.kwargs) if smaller is None else (smaller(given.args), smaller(given.kwargs))
        )
        for call in (_as_called, _without_targets):
            try:
                found = _look_ahead(recorder, given, copy, shift, *call(args, kwargs, shift.name))
            except (Exception, SystemExit):
                continue
            if found is not None:
                return found
    return None


def _look_ahead(
    recorder: Recorder, given: _Given, copy: Copy, shift: Shift, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Probe | None:
    """Change what comes after a position, and see whether what comes before it stays the same."""
    tokens = dict(arguments(args, kwargs))[shift.name]
    length, axis = tokens.shape[shift.axis], shift.axis
    worst: Probe | None = None
    for last in sorted({(shift.first + length) // 2 - 1, length - 2}):
        if last < shift.first:
            continue
        keep = _part(tuple(tokens.shape[:2]), axis, slice(shift.first, last + 1))
        may_change = _part(tuple(tokens.shape[:2]), axis, slice(last + 1, length))
        later = _other_values(tokens, axis, last + 1)
        if later is None:
            continue
        first, again = copy.run(args, kwargs, keep), copy.run(args, kwargs)
        other = copy.run(*_replaced(args, kwargs, shift.name, later), keep)
        found = _compared(first, again, other, keep, may_change)
        if found is None:
            return None
        probe = _probe(recorder, "causal", given, found, culprit(first, other), shifted=True)
        if worst is None or (found.leaked and not worst.leaked):
            worst = probe
    return worst


def _as_called(
    args: tuple[Any, ...], kwargs: dict[str, Any], _: str
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def _without_targets(
    args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The call without arguments that look like targets: whole numbers in the shape of the tokens, or a step shorter."""
    tokens = dict(arguments(args, kwargs))[name]

    def is_target(key: str, value: Any) -> bool:
        return key != name and isinstance(value, torch.Tensor) and value.shape[:2] == tokens.shape[:2]

    kept = list(args)
    while kept and is_target(str(len(kept) - 1), kept[-1]):
        kept.pop()
    return tuple(kept), {key: value for key, value in kwargs.items() if not is_target(key, value)}


def _other_values(tokens: torch.Tensor, axis: int, start: int) -> torch.Tensor | None:
    """The same tokens with other ones of the same batch from a position on."""
    changed = tokens.clone()
    later = changed.narrow(axis, start, tokens.shape[axis] - start)
    if tokens.is_floating_point():
        replacement = later.flip(0, 1)
    else:
        known, places = torch.unique(tokens, return_inverse=True)
        replacement = known[(places + 1) % known.numel()].narrow(axis, start, later.shape[axis])
    if torch.equal(replacement, later):
        return None
    later.copy_(replacement)
    return changed


def _part(shape: tuple[int, ...], axis: int, part: slice) -> Keep:
    """Some positions of a tensor that is laid out like the tokens, or like them made flat."""

    def take(tensor: torch.Tensor) -> torch.Tensor | None:
        if tensor.dim() >= 2 and tuple(tensor.shape[:2]) == shape:
            laid_out = tensor
        elif tensor.dim() == 2 and tensor.shape[0] == shape[0] * shape[1]:
            laid_out = tensor.reshape(*shape, -1)
        else:
            return None
        return laid_out[:, part] if axis == 1 else laid_out[part]

    return take


# By how many steps are the targets ahead, and what does the model see?


def _aligned(recorder: Recorder, given: _Given, shift: Shift | None) -> Aligned | None:
    """How the targets of a loss are made of a model's inputs."""
    if shift is None or shift.at is None:
        return None
    axes = ((shift.axis, shift.first), (1 - shift.axis, 0))
    is_causal = shift.steps == 0 and any(
        _reads_up_to_itself(given, shift.name, axis, first) for axis, first in axes
    )
    return Aligned(
        shift.at,
        given.at,
        recorder.objects.of(given.model).type,
        shift.steps,
        shift.positions,
        shift.next,
        is_causal,
    )


def _reads_up_to_itself(given: _Given, name: str, axis: int, start: int) -> bool:
    """Whether an output depends on its own input and on earlier ones along an axis, and on no later one."""
    copy = Copy(given.model)
    for call in (_as_called, _without_targets):
        args, kwargs = call(given.args, given.kwargs, name)
        tokens = dict(arguments(args, kwargs))[name]
        shape, length = tuple(tokens.shape[:2]), tokens.shape[axis]
        middle = (start + length) // 2
        if not start < middle < length:
            return False
        later = _other_values(tokens, axis, middle)
        earlier = _other_values(tokens.flip(axis), axis, length - middle)
        if later is None or earlier is None:
            return False
        try:
            first, again = copy.run(args, kwargs), copy.run(args, kwargs)
            changed_later = copy.run(*_replaced(args, kwargs, name, later))
            changed_earlier = copy.run(*_replaced(args, kwargs, name, earlier.flip(axis)))
        except (Exception, SystemExit):
            continue
        before = _part(shape, axis, slice(start, middle))
        itself = _part(shape, axis, slice(middle, middle + 1))
        after = _part(shape, axis, slice(middle, length))
        looks_ahead = _compared(first, again, changed_later, before, itself)
        looks_back = _compared(first, again, changed_earlier, after, after)
        if looks_ahead is not None and looks_back is not None:
            return looks_back.leaked and not looks_ahead.leaked
    return False


# Does a sample depend on the others?


def _batch(recorder: Recorder, given: _Given, size: int | None) -> Probe | None:
    """Put others around one sample of the batch, before and after it, and see whether its output stays the same."""
    inputs = [one for one in leaves([given.args, given.kwargs]) if isinstance(one, torch.Tensor)]
    if size is None or size < 2 or not any(one.dim() for one in inputs):
        return None
    if not all(_is_batch(one, size) for one in inputs if one.dim()):
        return None
    copy = Copy(given.model)
    for count in (3, 5) if size != 3 else (2, 5):
        found = _look_beside(recorder, given, copy, size, count)
        if found is not None:
            return found
    return None


def _look_beside(recorder: Recorder, given: _Given, copy: Copy, size: int, count: int) -> Probe | None:
    """With so many samples, so that a model which is tied to the number of all of them, such as a graph's, fails."""
    beside = [position % size for position in range(count)]
    unused = [position for position in range(size) if position not in beside] or [_WATCHED]
    others = [unused[position % len(unused)] for position in range(count)]
    others[_WATCHED] = _WATCHED

    def is_batch(tensor: torch.Tensor) -> bool:
        """A tensor with as many columns compares the samples with each other, and should."""
        return tensor.dim() > 0 and tensor.shape[0] == count and count not in tensor.shape[1:2]

    def keep(tensor: torch.Tensor) -> torch.Tensor | None:
        return tensor[_WATCHED] if is_batch(tensor) else None

    def may_change(tensor: torch.Tensor) -> torch.Tensor | None:
        return tensor[[one for one in range(count) if one != _WATCHED]] if is_batch(tensor) else None

    now = _picked(given.args, beside), _picked(given.kwargs, beside)
    first, again = copy.run(*now, keep), copy.run(*now)
    other = copy.run(_picked(given.args, others), _picked(given.kwargs, others), keep)
    found = _compared(first, again, other, keep, may_change)
    return _probe(recorder, "batch", given, found, culprit(first, other)) if found is not None else None


def _is_batch(tensor: torch.Tensor, size: int) -> bool:
    """Whether the first axis of a tensor is certainly that of the batch."""
    if tensor.layout is not torch.strided or tensor.shape[0] != size:
        return False
    return size not in tensor.shape[1:] or tensor.dim() >= 4


def _picked(value: Any, samples: list[int]) -> Any:
    if isinstance(value, torch.Tensor):
        return value[samples] if value.dim() else value
    return changed(value, partial(_picked, samples=samples))


# Does the same call give the same?


def _repeat(recorder: Recorder, given: _Given) -> Probe | None:
    """Call fresh copies as the program did, each from one and the same seed."""
    runs = []
    for _ in range(3):
        with unchanged(recorder):
            runs.append(
                Copy(given.model, keeps_mode=True).run(given.args, given.kwargs, lambda tensor: tensor)
            )
    first, second, third = runs
    for one, other, last in zip(first.outputs, second.outputs, third.outputs, strict=True):
        if not one.is_floating_point() or not one.shape == other.shape == last.shape or not one.numel():
            continue
        change = max(_difference(one, other, _whole), _difference(one, last, _whole))
        scale = float(one.double().abs().max())
        if not (change == change and 0 < scale < float("inf")) or one.is_cuda:
            return None
        found = _Compared(change, scale, change > _RANDOM * scale)
        return _probe(recorder, "repeat", given, found, culprit(first, second))
    return None


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


# What all have in common


def _compared(first: Ran, again: Ran, other: Ran, keep: Keep, may_change: Keep) -> _Compared | None:
    """The first output that has a part which must not change, in two runs alike and one that is not."""
    for before, same, after in zip(first.outputs, again.outputs, other.outputs, strict=False):
        if not before.is_floating_point() or keep(before) is None:
            continue
        if not before.shape == same.shape == after.shape:
            return None
        noise = _difference(before, same, lambda tensor: tensor)
        change, scale = _difference(before, after, keep), _difference(before, after, may_change)
        least_scale = _NOTHING * float(before.abs().max())
        if not (noise == noise and change == change and least_scale < scale < float("inf")):
            return None
        least = max(_NOISE.get(before.dtype, _NOISE_OF_HALVES) * scale, least_scale / 10)
        if noise > least / 10:
            return None
        return _Compared(change, scale, change > least)
    return None


def _difference(
    first: torch.Tensor, second: torch.Tensor, take: Callable[[torch.Tensor], torch.Tensor | None]
) -> float:
    one, other = take(first), take(second)
    if one is None or other is None or not one.numel():
        return 0.0
    return float((one.double() - other.double()).abs().max())


def _probe(
    recorder: Recorder, kind: str, given: _Given, found: _Compared, path: str | None, *, shifted: bool = False
) -> Probe:
    modules = dict(given.model.named_modules())
    module = modules.get(path) if path is not None and found.leaked else None
    suspects = [module] if module is not None else list(modules.values())
    return Probe(
        kind=kind,
        at=given.at,
        model=recorder.objects.of(given.model).type,
        leaked=found.leaked,
        change=found.change,
        scale=found.scale,
        shifted=shifted,
        normalises=any(map(_mixes_on_purpose, suspects)),
        module=path or "" if module is not None else "",
        module_type=recorder.objects.of(module).type if module is not None else "",
        module_at=recorder.objects.of(module).at if module is not None else None,
    )


def _mixes_on_purpose(module: torch.nn.Module) -> bool:
    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
        return not module.track_running_stats or module.running_mean is None
    is_own = not type(module).__module__.startswith("torch.")
    return is_own and _ON_PURPOSE.search(type(module).__name__) is not None


def _narrowed(value: Any, axis: int, count: int, to: int) -> Any:
    """A structure whose tensors hold fewer samples."""
    if isinstance(value, torch.Tensor):
        is_batch = value.dim() > axis and value.shape[axis] == count
        return value.narrow(axis, 0, to) if is_batch else value
    return changed(value, partial(_narrowed, axis=axis, count=count, to=to))


def _replaced(
    args: tuple[Any, ...], kwargs: dict[str, Any], name: str, value: torch.Tensor
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call with another value for one argument."""
    if name in kwargs:
        return args, {**kwargs, name: value}
    return tuple(value if str(position) == name else one for position, one in enumerate(args)), kwargs
