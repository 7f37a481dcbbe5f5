"""Do the program's own `autograd.Function`s give the gradients of what they compute?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.again import changed, leaves
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.probes.taken import seed
from trainlint.trace.measure.replay import Impossible, Replay
from trainlint.trace.watch.graph import tensors

NAME = "gradients"
_FAR = 1e-5
"""How far an input is moved, beside its size."""
_SAME = 1e-3
"""Difference of two slopes, beside their size, that is rounding in float64."""

_IN_STEPS = frozenset(
    "argmax argmin bernoulli bucketize ceil floor heaviside round sgn sign topk trunc".split()
)

Function = type[torch.autograd.Function]


class _Applied(NamedTuple):
    function: Function
    args: tuple[Any, ...]


def gradients(step: Step) -> Tried:
    """Compare each function's backward with finite differences in float64, along a random direction."""
    copy = Replay(step.taped, None)
    loss = copy.loss()
    own = _functions(loss)
    if not own:
        raise Impossible("no `autograd.Function` of the program's own leads to the loss")
    calls: dict[Function, _Applied] = {}
    with contextlib.ExitStack() as stack:
        for one in own:
            stack.enter_context(_noting(one, calls))
        copy.loss()
    said, numbers, wrong = [], {}, []
    for function in own:
        if function not in calls:
            continue
        name = function.__name__
        forward, backward = _slopes(calls[function])
        numbers[f"slope of {name}"], numbers[f"slope that its backward gives for {name}"] = forward, backward
        told = f"{name}: the output moves by {forward:.3g} where its backward says {backward:.3g}"
        if abs(forward - backward) <= _SAME * max(abs(forward), abs(backward)):
            said.append(told)
        elif (purpose := _purpose(calls[function], forward)) is not None:
            said.append(f"{name} {purpose}")
        else:
            wrong.append(told)
    if not said and not wrong:
        raise Impossible("its functions are applied in another way when the step is taken again")
    verdict = "failed" if wrong else "passed"
    return Tried(NAME, verdict, "; ".join(wrong or said), step.at, numbers)


def _functions(loss: torch.Tensor) -> list[Function]:
    """The program's own functions on the way to the loss, by name."""
    found: dict[Function, None] = {}
    seen: set[Any] = set()
    pending = [loss.grad_fn]
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        function = getattr(type(node), "_forward_cls", None)
        if function is not None and not function.__module__.startswith("torch."):
            found[function] = None
        pending.extend(one for one, _ in node.next_functions)
    return sorted(found, key=lambda one: (one.__name__, one.__module__))


@contextlib.contextmanager
def _noting(function: Function, calls: dict[Function, _Applied]) -> Iterator[None]:
    """Keep what a function is applied to first."""
    apply = function.apply
    is_own = "apply" in vars(function)

    def noted(*args: Any) -> Any:
        calls.setdefault(function, _Applied(function, changed(args, _kept)))
        return apply(*args)  # type: ignore[no-untyped-call]

    function.apply = staticmethod(noted)  # type: ignore[method-assign]
    try:
        yield
    finally:
        if is_own:
            function.apply = apply  # type: ignore[method-assign]
        else:
            del function.apply


def _kept(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _slopes(applied: _Applied) -> tuple[float, float]:
    """How fast the outputs change along a random direction of the inputs: by finite differences, and by backward.

    Raises Impossible where the function cannot be called in float64.
    """
    seed()
    args = changed(applied.args, _wide)
    moved = [one for one in leaves(list(args)) if isinstance(one, torch.Tensor) and one.is_floating_point()]
    ways = [torch.randn_like(one) * one.abs().mean().clamp_min(1e-3) for one in moved]
    for one in moved:
        one.requires_grad_()
    try:
        outputs = [one for one in _apply(applied, args) if one.requires_grad]
        weights = [torch.randn_like(one) for one in outputs]
        found = torch.autograd.grad(outputs, moved, weights, allow_unused=True)
        backward = sum(
            float((one * way).sum()) for one, way in zip(found, ways, strict=True) if one is not None
        )
        ends = []
        with torch.no_grad():
            for sign in (_FAR, -_FAR):
                for one, way in zip(moved, ways, strict=True):
                    one.add_(way, alpha=sign)
                ends.append([one.clone() for one in _apply(applied, args)])
                for one, way in zip(moved, ways, strict=True):
                    one.sub_(way, alpha=sign)
    except Exception as error:
        said = f"{applied.function.__name__} cannot be called in float64: {error}".splitlines()[0]
        raise Impossible(said) from error
    pairs = [(one, other) for one, other in zip(*ends, strict=True) if one.is_floating_point()]
    rise = sum(
        float(((one - other) * weight).sum()) for (one, other), weight in zip(pairs, weights, strict=False)
    )
    return rise / (2 * _FAR), backward


def _purpose(applied: _Applied, slope: float) -> str | None:
    """Why a gradient that is not that of the output is meant, if it is."""
    args = changed(applied.args, _wide)
    rounding = _Rounding()
    with torch.no_grad(), torch._C._EnableTorchFunction(), rounding:
        outputs = _apply(applied, args)
    inputs = [one for one in leaves(list(args)) if isinstance(one, torch.Tensor)]
    if any(one.shape == other.shape and torch.equal(one, other) for one in outputs for other in inputs):
        return "gives back its input, and changes the gradient on purpose"
    if slope == 0 or rounding.rounds:
        return "gives a gradient where its output moves in steps, on purpose"
    return None


class _Rounding(TorchFunctionMode):
    """Notices functions whose results move in steps."""

    rounds = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.rounds |= getattr(func, "__name__", "").rstrip("_") in _IN_STEPS
        return func(*args, **(kwargs or {}))


def _apply(applied: _Applied, args: tuple[Any, ...]) -> list[torch.Tensor]:
    return tensors(applied.function.apply(*args))  # type: ignore[no-untyped-call]


def _wide(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        kept = value.detach().clone()
        return kept.double() if value.is_floating_point() else kept
    return value
