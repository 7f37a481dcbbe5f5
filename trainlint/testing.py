"""Checks for a user's own tests: does a model train at all?"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_LEARNING_RATE = 1e-3


def assert_trains(
    model: torch.nn.Module,
    batch: Any,
    loss_fn: Callable[[Any, Any], torch.Tensor],
    *,
    ignore: Sequence[str] = (),
) -> None:
    """Take two training steps on a copy of a model, and fail if they show that it cannot learn.

    Args:
        model: is left as it is, and so are the random states.
        batch: `(inputs, targets)`, where inputs may themselves be a tuple of arguments or a mapping of keyword
            arguments; or a mapping of keyword arguments of the model, which the loss function is then given whole.
        loss_fn: `loss_fn(output, targets)`, or `loss_fn(output, batch)` where the batch is a mapping; gives one
            number that carries a gradient.
        ignore: codes or beginnings of codes of findings that are allowed here.

    Raises AssertionError with the report of the step for any finding that is an error, and where nothing can learn:
    there is no parameter to train, the loss carries no gradient, or every gradient is zero.
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
        with record() as trace:
            for _ in range(2):
                optimizer.zero_grad()
                loss = loss_fn(_called(trained, inputs), targets)
                if not loss.requires_grad:
                    break
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    report = trace.report()
    wrong = [
        one for one in report.findings if one.level == "error" and not one.code.startswith(tuple(ignore))
    ]
    if wrong:
        codes = ", ".join(sorted({one.code for one in wrong}))
        raise AssertionError(f"this model does not train correctly ({codes})\n\n{report}")
    if not loss.requires_grad:
        raise AssertionError(f"the loss does not require grad: no parameter is reachable from it\n\n{report}")
    if not any(one.grad is not None and one.grad.any() for one in parameters):
        raise AssertionError(f"every gradient is zero: no parameter learns\n\n{report}")


def _called(model: torch.nn.Module, inputs: Any) -> Any:
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)
