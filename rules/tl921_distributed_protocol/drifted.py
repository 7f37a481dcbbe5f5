"""Ranks that do not keep one model."""

from collections.abc import Iterator

from trainlint.facts.seen.ranks import Drift
from trainlint.finding import Finding

_SAID = {
    "gradients": "has another gradient on each rank when the optimizer takes step {step}, so their copies of the model "
    "drift apart. Compute every loss through `DistributedDataParallel` itself, not its `.module`, or average the "
    "gradients of all parameters before each step.",
    "weights": "gets the same gradients on all ranks and has other weights on each (at step {step}): each rank trains another "
    "model with gradients that are not its own. Start from the same weights: wrap the model in "
    "`DistributedDataParallel`, or broadcast its weights from rank 0.",
    "unaveraged": "has another gradient on each rank and so gets other weights: nothing is averaged, and the ranks drift "
    "apart. Wrap the model in `DistributedDataParallel`, or average the gradients of all parameters before each step.",
    "everything": "has other weights and other gradients on each rank: nothing is averaged, and each rank trains a model of "
    "its own. Wrap the model in `DistributedDataParallel`.",
}


def drifted(apart: Drift) -> Iterator[Finding]:
    """What a run has shown of a parameter that the ranks should have in common."""
    if apart.at is None:
        return
    of_what = "weights" if apart.what == "weights" else "gradient"
    yield Finding(
        apart.at,
        f"`{apart.subject}` {_SAID[apart.what].format(step=apart.step)}",
        evidence={
            **{f"norm of the {of_what} on rank {rank}": value for rank, value in sorted(apart.sums.items())},
            "parameters like this": apart.of,
        },
    )
