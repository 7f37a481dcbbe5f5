"""Checks for a user's own tests: does a model train at all?"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trainlint.facts.ask.evidence import numbers_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.seen.tried import QUESTIONS, VERDICTS

if TYPE_CHECKING:
    import torch

    from trainlint.trace.launch.recording import StepReport

_LEARNING_RATE = 1e-3
_STEPS = 8
"""Steps after the two that are recorded."""
_MOST_NAMED = 5


def assert_trains(
    model: torch.nn.Module,
    batch: Any,
    loss_fn: Callable[[Any, Any], torch.Tensor],
    *,
    ignore: Sequence[str] = (),
) -> None:
    """Train a copy of a model on one batch for a few steps, and fail if it does not learn.

    Args:
        model: is left as it is, and so are the random states.
        batch: `(inputs, targets)`, where inputs may themselves be a tuple of arguments or a mapping of keyword
            arguments; or a mapping of keyword arguments of the model, which the loss function is then given whole.
        loss_fn: `loss_fn(output, targets)`, or `loss_fn(output, batch)` where the batch is a mapping; gives one
            number that carries a gradient.
        ignore: codes or beginnings of codes of findings that are allowed here.

    Raises AssertionError with the report of the first steps for any finding that is an error, and where it does not
    learn: there is no parameter to train, the loss carries no gradient, weights get none in any step (`ignore` TL210 and
    TL211 allow that), the loss does not fall, or it falls because the loss of torch's in it rises.
    """
    import torch

    from trainlint.trace import record

    __tracebackhide__ = True  # pytest shows the line of the test
    inputs, targets = (batch, batch) if isinstance(batch, Mapping) else batch
    with torch.random.fork_rng():
        trained = copy.deepcopy(model).train()
        parameters = [one for one in trained.parameters() if one.requires_grad]
        if not parameters:
            raise AssertionError("this model has no parameter that requires grad: there is nothing to train")
        optimizer = torch.optim.AdamW(parameters, lr=_LEARNING_RATE)
        losses: list[float] = []
        moved: set[int] = set()

        def step() -> bool:
            """Each with the same random numbers, so that losses can be compared."""
            torch.manual_seed(0)
            optimizer.zero_grad()
            loss = loss_fn(_called(trained, inputs), targets)
            losses.append(float(loss.detach()))
            if loss.requires_grad:
                loss.backward()  # type: ignore[no-untyped-call]
                moved.update(id(one) for one in parameters if one.grad is not None and bool(one.grad.any()))
                optimizer.step()
            return loss.requires_grad

        with record() as trace:
            learns = all(step() for _ in range(2))
        report = trace.report()
        assert_no_error(report, ignore)
        hidden = next(_unregistered(trained), None)
        if hidden is not None and not "TL901".startswith(tuple(ignore)):
            raise AssertionError(
                f"`{hidden}` holds layers in a plain container: they are not in `parameters()`, so no optimizer "
                f"trains them (TL901)\n\n{report}"
            )
        if not learns:
            raise AssertionError(
                f"the loss does not require grad: no parameter is reachable from it\n\n{report}"
            )
        if not moved:
            raise AssertionError(f"every gradient is zero: no parameter learns\n\n{report}")
        for _ in range(_STEPS):
            step()
    named = {id(one): name for name, one in trained.named_parameters()}
    still = [one for one in parameters if id(one) not in moved and not _is_allowed(one, ignore)]
    if still:
        names = ", ".join(named[id(one)] for one in still[:_MOST_NAMED])
        raise AssertionError(
            f"these weights get no gradient in any of {len(losses)} steps: {names}\n\n{report}"
        )
    if not min(losses[1:]) < losses[0]:
        raise AssertionError(
            f"the loss does not fall on one batch: {losses[0]:.4g} at first, {losses[-1]:.4g} after {len(losses)} "
            f"steps\n\n{report}"
        )
    if _is_negated(report):
        raise AssertionError(
            f"the loss that `backward()` is called on is a loss of torch's with its sign inverted, so training makes "
            f"that one larger\n\n{report}"
        )


def assert_no_error(report: StepReport, ignore: Sequence[str] = ()) -> None:
    """Fail with the report if it has a finding that is an error and whose code begins with none of these."""
    __tracebackhide__ = True
    wrong = [
        one for one in report.findings if one.level == "error" and not one.code.startswith(tuple(ignore))
    ]
    if wrong:
        codes = ", ".join(sorted({one.code for one in wrong}))
        raise AssertionError(f"this model does not train correctly ({codes})\n\n{report}")


def _unregistered(model: torch.nn.Module) -> Iterator[str]:
    """The attributes of a model that hold layers which it does not register."""
    import torch

    known = {id(one) for one in model.parameters()}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            held = list(value.values()) if isinstance(value, dict) else value
            if name.startswith("_") or not isinstance(held, (list, tuple)):
                continue
            layers = [one for one in held if isinstance(one, torch.nn.Module)]
            if any(
                one.requires_grad and id(one) not in known for each in layers for one in each.parameters()
            ):
                yield f"{path}.{name}" if path else name


def _is_allowed(parameter: torch.Tensor, ignore: Sequence[str]) -> bool:
    """Whether a parameter may go without a gradient: a bias may, where a later layer removes it."""
    code = "TL210" if parameter.grad is None else "TL211"
    return code.startswith(tuple(ignore)) or (parameter.grad is not None and parameter.dim() < 2)


def _is_negated(report: StepReport) -> bool:
    """Whether each loss is the one loss of torch's in it, times one and the same negative number."""
    computed = [one for one in report.run.events(LossCall) if one.function != "log_softmax"]
    run_back = report.run.events(Backward)
    if len(computed) != len(run_back) or len({one.at for one in computed}) != 1:
        return False
    values = [
        (numbers_of(back.loss).get("value"), numbers_of(one.output).get("value"))
        for back, one in zip(run_back, computed, strict=True)
    ]
    ratios = [total / inner for total, inner in values if total is not None and inner]
    return len(ratios) == len(values) and ratios[0] < 0 and max(ratios) - min(ratios) < 1e-4 * -ratios[0]


def _called(model: torch.nn.Module, inputs: Any) -> Any:
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


def assert_overfits(
    model: torch.nn.Module, batch: Any, loss_fn: Callable[[Any, Any], torch.Tensor], *, seconds: float = 10.0
) -> None:
    """Train copies of a model on one batch, and fail if its loss does not fall far below what a constant would give.

    The arguments are those of `assert_trains`. Raises AssertionError also where that cannot be told, with the reason.
    """
    __tracebackhide__ = True
    inputs, targets = (batch, batch) if isinstance(batch, Mapping) else batch
    _assert_passes("overfit", model, inputs, lambda output: loss_fn(output, targets), seconds=seconds)


def assert_resumes(
    model: torch.nn.Module,
    batch: Any,
    loss_fn: Callable[[Any, Any], torch.Tensor],
    *,
    optimizer: Callable[[Any], torch.optim.Optimizer] | None = None,
) -> None:
    """Take a step with a copy of a model, save and load it, and fail if the next step is not that of the copy.

    Args:
        optimizer: makes an optimizer of parameters; AdamW if it is not given.

    The others are those of `assert_trains`. Raises AssertionError also where that cannot be told, with the reason.
    """
    __tracebackhide__ = True
    inputs, targets = (batch, batch) if isinstance(batch, Mapping) else batch
    _assert_passes("resume", model, inputs, lambda output: loss_fn(output, targets), optimizer=optimizer)


def assert_depends_on_input(model: torch.nn.Module, inputs: Any) -> None:
    """Fail if the model gives the same output for other inputs.

    Args:
        inputs: a tensor, a tuple of arguments, or a mapping of keyword arguments, without targets.
    """
    __tracebackhide__ = True
    _assert_passes("depends-on-input", model, inputs)


def assert_samples_independent(model: torch.nn.Module, inputs: Any) -> None:
    """Fail if, in evaluation mode, the output of one sample depends on the others of its batch.

    Args:
        inputs: as for `assert_depends_on_input`, with the batch in front, of two samples or more.
    """
    __tracebackhide__ = True
    _assert_passes("samples-independent", model, inputs)


def assert_causal(model: torch.nn.Module, inputs: Any, *, axis: int = 1) -> None:
    """Fail if, in evaluation mode, an output depends on a later input.

    Args:
        inputs: as for `assert_depends_on_input`; the first of them goes on in time.
        axis: along which one it does: 1, or 0 for models that have the batch second.
    """
    __tracebackhide__ = True
    _assert_passes("causal", model, inputs, axis=axis)


def assert_repeats(model: torch.nn.Module, batch: Any, loss_fn: Callable[[Any, Any], torch.Tensor]) -> None:
    """Take one step with two copies of a model from the same seed, and fail if the weights differ afterwards.

    The arguments are those of `assert_trains`.
    """
    __tracebackhide__ = True
    inputs, targets = (batch, batch) if isinstance(batch, Mapping) else batch
    _assert_passes("repeat", model, inputs, lambda output: loss_fn(output, targets))


def assert_takes_smaller_batches(model: torch.nn.Module, inputs: Any) -> None:
    """Fail if the model raises for one sample or for half of them, or if an output has another shape than it should.

    Args:
        inputs: as for `assert_depends_on_input`, with the batch in front, of two samples or more.
    """
    __tracebackhide__ = True
    _assert_passes("smaller-batch", model, inputs)


def assert_same_in_both_modes(model: torch.nn.Module, inputs: Any) -> None:
    """Fail if training and evaluation mode differ by more than dropout and normalisation.

    Args:
        inputs: as for `assert_depends_on_input`.
    """
    __tracebackhide__ = True
    _assert_passes("modes", model, inputs)


def assert_gradients(model: torch.nn.Module, inputs: Any) -> None:
    """Fail if an `autograd.Function` of a model does not give the gradient of what it computes, by finite differences.

    Those that round, or give back their input, change gradients on purpose, and pass.

    Args:
        inputs: as for `assert_depends_on_input`.
    """
    __tracebackhide__ = True
    _assert_passes("gradients", model, inputs)


def _assert_passes(
    name: str,
    model: torch.nn.Module,
    inputs: Any,
    loss_of: Callable[[Any], torch.Tensor] | None = None,
    *,
    optimizer: Callable[[Any], torch.optim.Optimizer] | None = None,
    seconds: float = 10.0,
    axis: int = 1,
) -> None:
    import torch

    from trainlint.trace.launch.trying import sum_of_squares, tried

    __tracebackhide__ = True
    args = inputs if isinstance(inputs, tuple) else () if isinstance(inputs, Mapping) else (inputs,)
    kwargs = dict(inputs) if isinstance(inputs, Mapping) else {}
    found = tried(
        name,
        model,
        args,
        kwargs,
        loss_of or sum_of_squares,
        optimizer or (lambda parameters: torch.optim.AdamW(parameters, lr=_LEARNING_RATE)),
        seconds=seconds,
        axis=axis,
    )
    if found.verdict != "passed":
        raise AssertionError(f"{QUESTIONS[name]}: {VERDICTS[found.verdict]} {found.said}")
