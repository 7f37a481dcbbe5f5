"""One probe of a model that a test holds, on a step that is taken for it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from trainlint.facts.seen.tried import Tried
from trainlint.trace.launch.session import Session
from trainlint.trace.measure.experiments.all import experiments
from trainlint.trace.measure.probes.all import probes
from trainlint.trace.watch.graph import tensors
from trainlint.trace.watch.shifts import Shift

Optimize = Callable[[Any], torch.optim.Optimizer]
"""What makes an optimizer of parameters."""


def tried(
    name: str,
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    loss_of: Callable[[Any], torch.Tensor],
    optimize: Optimize,
    *,
    seconds: float = 10.0,
    axis: int = 1,
) -> Tried:
    """Train a copy of a model for a step, and make one probe of it. The model and the random states stay as they are.

    Args:
        loss_of: the loss of an output.
        axis: for `causal`: along which axis of the first input time goes.
    """
    session = Session()
    recorder = session.recorder
    recorder.tape.is_on = recorder.tape.keeps_begun = True
    try:
        with torch.random.fork_rng():
            trained = copy.deepcopy(model).train()
            optimizer = optimize(trained.parameters())
            for _ in range(2):  # the recording ends before the second step
                optimizer.zero_grad()
                loss_of(trained(*args, **kwargs)).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
        recorder.is_on = False
        position, first = _first_input(args, kwargs)
        recorder.batch.of_loader([first], first.shape[0])
        recorder.models.batch_first.add(id(trained))
        if name == "causal":
            recorder.shifts.found[id(trained)] = Shift(position, axis, 0)
        extra = list(experiments(recorder))
    finally:
        session.close()
    recorded = session.facts("block", extra=extra)
    made = probes(recorder, [name], seconds, recorded, lambda _: None)
    return next(one for one in made if isinstance(one, Tried))


def _first_input(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, torch.Tensor]:
    named = [*((str(position), one) for position, one in enumerate(args)), *kwargs.items()]
    for name, value in named:
        if isinstance(value, torch.Tensor) and value.dim():
            return name, value
    raise ValueError("no input is a tensor with an axis for the batch")


def sum_of_squares(output: Any) -> torch.Tensor:
    """A loss for models of which only the outputs are looked at."""
    return torch.stack([one.float().square().mean() for one in tensors(output) if one.requires_grad]).sum()
