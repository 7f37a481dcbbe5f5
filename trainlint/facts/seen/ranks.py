"""The processes that train together."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.finding import Place


@dataclass(frozen=True)
class Rank:
    """Where a process stands among those that train together."""

    number: int = 0
    world: int = 1


@dataclass(frozen=True)
class RankSeen:
    """One of several processes that train together, in a few numbers.

    Args:
        loss: the last value that gradients were computed for.
        gradient: norm of all gradients at its first step.
        batch: shape of the first input of its model.
        seconds: its latest step took.
    """

    number: int
    steps: int
    loss: float | None = None
    gradient: float | None = None
    batch: tuple[int, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True)
class Disagreement:
    """Something that the ranks of a distributed run do not have in common."""

    at: Place | None
    what: str
    subject: str = ""
    ranks: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ParameterSums:
    """A parameter of one rank in numbers that are equal on another only where the parameter is.

    Args:
        name: as `named_parameters()` of its model gives it.
        weights: before each recorded step, and before the one at which the recording ended.
        gradients: as each of these steps uses them; None where there was none.
        copied: whether `DistributedDataParallel` is to keep it equal on all ranks.
    """

    name: str
    at: Place | None
    weights: tuple[float, ...]
    gradients: tuple[float | None, ...]
    copied: bool = False


@dataclass(frozen=True)
class BatchSums:
    """What the models of one rank were given, in one number for each call."""

    at: Place | None
    sums: tuple[float, ...]


@dataclass(frozen=True)
class Drift:
    """A parameter that the ranks should have in common, and do not.

    Args:
        what: `gradients`, where the ranks step with different ones though `DistributedDataParallel` is there;
            `unaveraged`, where it is not; `weights`, where they step with the same gradients and have other weights;
            `everything`, where they have nothing in common.
        step: the first at which it was seen, from 1.
        of: how many parameters it is like this with.
        sums: of its gradient or its weights, by rank.
    """

    at: Place | None
    what: str
    step: int
    subject: str
    of: int
    sums: dict[int, float]


@dataclass(frozen=True)
class SameBatches:
    """All ranks train on the same batches.

    Args:
        batches: how many were compared.
    """

    at: Place | None
    batches: int
