"""Parameters from input to output."""

from __future__ import annotations

from trainlint.facts.seen.gradients import Gradient
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.output.in_order import in_order


def parameter(name: str, order: int | None, *, gradient: bool = True, model: int = 0) -> ParameterSeen:
    found = Gradient(1.0, 1.0, 0.0, 0) if gradient else None
    module = name.rpartition(".")[0]
    return ParameterSeen(
        name,
        module,
        "torch.nn.Linear",
        None,
        order,
        (2,),
        "float32",
        "cpu",
        True,
        gradient=found,
        model=model,
    )


def test_weights_that_another_module_uses_stand_with_it() -> None:
    held = [
        parameter("head.weight", 9),
        parameter("attention.in_proj_weight", 2),
        parameter("attention.out_proj.weight", None),
        parameter("unused.weight", None, gradient=False),
        parameter("attention.idle.weight", None, gradient=False),
        parameter("norm.weight", 1),
        parameter("head.weight", 0, model=1),
    ]
    assert [(one.model, one.name) for one in in_order(held)] == [
        (0, "norm.weight"),
        (0, "attention.in_proj_weight"),
        (0, "attention.out_proj.weight"),
        (0, "head.weight"),
        (0, "unused.weight"),
        (0, "attention.idle.weight"),
        (1, "head.weight"),
    ]
