"""What ranks have in common, by the sums that each of them has recorded."""

from __future__ import annotations

import pytest

from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Constant
from trainlint.facts.seen.ranks import BatchSums, Drift, ParameterSums, Rank, SameBatches
from trainlint.finding import Place
from trainlint.run.drift import drifts

AT, LOSS = Place("train.py", 3, 1, 3, 9), Place("train.py", 9, 1, 9, 9)
Steps = tuple[float, ...]


def rank(
    number: int,
    weights: tuple[Steps, Steps] = ((1.0, 1.1), (2.0, 2.2)),
    gradients: tuple[Steps, Steps] = ((0.5, 0.4), (0.3, 0.2)),
    *,
    copied: bool = True,
    batches: Steps | None = None,
    loss_at: Place = LOSS,
) -> Recorded:
    held = zip(("first", "second"), weights, gradients, strict=True)
    return Recorded(
        path="",
        entry="program",
        nodes=[Backward(at=loss_at, loss=Constant(value=1.0), accumulates=True)],
        objects=(),
        seen=(
            *(ParameterSums(name, AT, one, two, copied) for name, one, two in held),
            BatchSums(LOSS, batches if batches is not None else (number + 0.5, number + 0.7)),
        ),
        rank=Rank(number, 2),
    )


def said(first: Recorded, second: Recorded) -> list[tuple[str, int, int]]:
    found = [one for one in drifts({0: first, 1: second}) if isinstance(one, Drift)]
    return [(one.what, one.step, one.of) for one in found]


OTHER_WEIGHTS = ((1.5, 1.6), (2.5, 2.6))
OTHER_LATER = ((1.0, 1.3), (2.0, 2.4))
OTHER_GRADIENTS = ((0.7, 0.6), (0.1, 0.6))


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param({}, [], id="the same"),
        pytest.param(
            {"gradients": ((0.5, 0.9), (0.3, 0.9))}, [("gradients", 2, 2)], id="from the second step"
        ),
        pytest.param({"gradients": ((0.5, 0.4), (0.9, 0.2))}, [("gradients", 1, 1)], id="a part of it"),
        pytest.param({"weights": OTHER_WEIGHTS}, [("weights", 1, 2)], id="loaded on one rank"),
        pytest.param({"gradients": ((0.50000001, 0.4), (0.3, 0.2))}, [], id="rounding"),
        pytest.param({"gradients": ((float("nan"), 0.4), (0.3, 0.2))}, [], id="not a number"),
    ],
)
def test_copies(second: dict[str, tuple[Steps, Steps]], expected: list[tuple[str, int, int]]) -> None:
    assert said(rank(0), rank(1, **second)) == expected


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param({}, [], id="averaged by hand"),
        pytest.param({"weights": OTHER_WEIGHTS}, [("weights", 1, 2)], id="other weights at the start"),
        pytest.param(
            {"weights": OTHER_LATER, "gradients": OTHER_GRADIENTS}, [("unaveraged", 1, 2)], id="not averaged"
        ),
        pytest.param(
            {"weights": OTHER_WEIGHTS, "gradients": OTHER_GRADIENTS}, [("everything", 1, 2)], id="alone"
        ),
        pytest.param({"gradients": OTHER_GRADIENTS}, [], id="averaged inside the step"),
        pytest.param(
            {"weights": ((1.0, 1.1), (2.5, 2.6)), "gradients": ((0.5, 0.4), (0.1, 0.6))}, [], id="experts"
        ),
        pytest.param(
            {"weights": OTHER_WEIGHTS, "gradients": OTHER_GRADIENTS, "batches": (0.5, 0.7)},
            [],
            id="parts of one layer, which get the same batch",
        ),
        pytest.param(
            {"weights": OTHER_WEIGHTS, "gradients": OTHER_GRADIENTS, "loss_at": AT},
            [],
            id="stages of one model",
        ),
    ],
)
def test_without_copies(second: dict[str, object], expected: list[tuple[str, int, int]]) -> None:
    assert said(rank(0, copied=False), rank(1, copied=False, **second)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("second", "copied", "expected"),
    [
        pytest.param((0.5, 0.7), True, [SameBatches(LOSS, 2)], id="the same"),
        pytest.param((0.5, 0.7, 0.9), True, [SameBatches(LOSS, 2)], id="the same, as far as both go"),
        pytest.param((0.5, 0.9), True, [], id="the first alone"),
        pytest.param((0.5, 0.7), False, [], id="without copies"),
    ],
)
def test_batches(second: Steps, copied: bool, expected: list[SameBatches]) -> None:
    runs = {0: rank(0, copied=copied), 1: rank(1, copied=copied, batches=second)}
    assert [one for one in drifts(runs) if isinstance(one, SameBatches)] == expected


def test_one_batch_that_is_learnt_by_heart_is_left() -> None:
    runs = {number: rank(number, batches=(0.5, 0.5)) for number in range(2)}
    assert list(drifts(runs)) == []
