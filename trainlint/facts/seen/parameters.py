"""The parameters of the models that were trained."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.model.values import Value
from trainlint.facts.seen.gradients import Gradient
from trainlint.facts.seen.tensors import Shape, Spread
from trainlint.finding import Place


@dataclass(frozen=True)
class ParameterSeen:
    """A parameter of a model that was trained, over the recorded step.

    Args:
        name: as `named_parameters()` of its model gives it, such as `layers.0.fc.weight`.
        module: the path of the module that holds it, such as `layers.0.fc`.
        module_type: class of that module: `torch.nn.Linear`, or the plain name of the program's own.
        at: where the program makes that module.
        order: position of that module among all modules by their first call; None if it was never called.
        trainable: `requires_grad`.
        optimizers: the optimizers that hold it, as in `OptimizerSeen.number`.
        stepped: whether one of these has stepped.
        start: its elements before the first step.
        gradient: what the first step used; None if there was no gradient.
        expected: whether a backward was run from a loss of its model before that step.
        update: norm of the change by one step over the norm of the weights, beyond weight decay.
        unchanged: bit-identical after the step.
        lost: of its elements that have a gradient, the share that is bit-identical after the step, for half precision; None
            where the learning rate was still rising.
        moving: how many elements that share is of.
        broken: how many elements of its gradient were NaN or infinite when a backward pass had computed it, whatever was
            done with them before a step.
        uses: how many modules hold this same parameter.
        model: number of its model, among those that were trained.
        rate: learning rate of its group at that step.
        moved: for one that no optimizer holds, whether something else has changed it.
        reached: whether any backward of the recording gave it a gradient.
        alive: whether any of these gradients was other than all zeros.
        value: what it is among the values that losses are made of.
    """

    name: str
    module: str
    module_type: str
    at: Place | None
    order: int | None
    shape: Shape
    dtype: str
    device: str
    trainable: bool
    optimizers: tuple[int, ...] = ()
    stepped: bool = False
    start: Spread | None = None
    gradient: Gradient | None = None
    expected: bool = False
    update: float | None = None
    unchanged: bool | None = None
    uses: int = 1
    model: int = 0
    rate: float | None = None
    moved: bool = False
    reached: bool = False
    alive: bool = False
    value: Value | None = None
    lost: float | None = None
    moving: int = 0
    broken: int = 0
