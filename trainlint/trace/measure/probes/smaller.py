"""Does the model take a batch of one, and a smaller one?"""

from __future__ import annotations

from typing import Any

import torch

from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.again import changed, leaves
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.replay import Impossible, Replay
from trainlint.trace.watch.graph import tensors

NAME = "smaller-batch"


def smaller_batch(step: Step) -> Tried:
    """Call the model with one sample, and with half of them: the last batch of an epoch, and what a user asks of it later."""
    size, called = step.recorder.batch.size, step.model
    if size is None or size < 2:
        raise Impossible("neither a loader nor a loss says that a batch has several samples")
    model, args, kwargs = Replay(step.taped, None).arguments_of(called)
    inputs = [one for one in leaves([args, kwargs]) if isinstance(one, torch.Tensor) and one.dim()]
    if not inputs or any(one.shape[0] != size for one in inputs):
        raise Impossible("the batch is not the first axis of every input")
    name = type(called.function).__name__
    counts = sorted({1, size // 2})
    for training in (False, True):
        whole = _shapes(model, args, kwargs, size, training)
        if not any(one[:1] == (size,) for one in whole):
            raise Impossible("the model gives no output with one row for each sample")
        for count in counts:
            if training and count == 1:
                continue
            wrong = _wrong(model, (args, kwargs), whole, (size, count), training)
            if wrong:
                return Tried(NAME, "failed", f"{name} {wrong}", step.at)
    said = f"{name} takes {_samples(counts)} in place of {size}"
    alone = _wrong(model, (args, kwargs), whole, (size, 1), True)
    if alone:
        said += f"; in training mode it {alone}: drop a last batch of one sample (`drop_last=True`)"
    return Tried(NAME, "passed", said, step.at)


def _samples(counts: list[int]) -> str:
    return " and ".join(f"{count} sample{'s' * (count != 1)}" for count in counts)


def _wrong(
    model: torch.nn.Module,
    given: tuple[tuple[Any, ...], dict[str, Any]],
    whole: list[tuple[int, ...]],
    sizes: tuple[int, int],
    training: bool,
) -> str:
    """What goes wrong with so many samples in place of so many, in a few words; nothing if nothing does."""
    size, count = sizes
    try:
        found = _shapes(model, *given, count, training)
    except Exception as error:
        return f"raises with {_samples([count])}: {error}".splitlines()[0]
    wanted = [(count, *one[1:]) if one[:1] == (size,) else one for one in whole]
    for one, other in zip(found, wanted, strict=False):
        if one != other and other[:1] == (count,):
            return f"gives an output of shape {list(one)} for {_samples([count])}, in place of {list(other)}"
    return ""


def _shapes(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], count: int, training: bool
) -> list[tuple[int, ...]]:
    """The shapes of the outputs for the first samples. Raises what the model raises."""
    modes = [one.training for one in model.modules()]
    model.train(training)
    try:
        with torch.no_grad():
            outputs = model(*_first(args, count), **_first(kwargs, count))
    finally:
        for one, mode in zip(model.modules(), modes, strict=True):
            one.training = mode
    return [tuple(one.shape) for one in tensors(outputs)]


def _first(value: Any, count: int) -> Any:
    if isinstance(value, torch.Tensor):
        return value[:count].clone() if value.dim() else value
    return changed(value, lambda one: _first(one, count))
