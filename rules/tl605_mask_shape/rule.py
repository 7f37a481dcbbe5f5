from collections.abc import Iterator

from trainlint.facts.seen.masks import MaskSeen
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(MaskSeen, level="error", by="T")
def check(mask: MaskSeen) -> Iterator[Finding]:
    evidence = {"mask": list(mask.shape), "scores": list(mask.scores)}
    if not mask.fits:
        wanted = "has to be" if mask.way in ("key_padding", "attention") else "has to broadcast to"
        yield Finding(
            mask.at,
            f"This mask has the shape {list(mask.shape)}, but it {wanted} {list(mask.scores)}, so it cannot "
            "be applied. Order its axes like the scores: samples, queries, keys.",
            evidence=evidence,
        )
    elif mask.is_padding and _lies_elsewhere(mask):
        axis = mask.axes[0]
        yield Finding(
            mask.at,
            f"The first axis of this padding mask {list(mask.shape)} is the batch, but it broadcasts along "
            f"axis {axis} of the scores {list(mask.scores)}, which happens to have the same size: each "
            "sample is masked with the padding of other samples. Insert an axis of size 1 for each axis "
            "between batch and keys.",
            evidence=evidence,
        )


def _lies_elsewhere(mask: MaskSeen) -> bool:
    """Whether the batch of the mask is not the batch of the scores."""
    samples = mask.shape[0]
    return (
        samples > 1 and samples == mask.scores[0] and len(mask.shape) == len(mask.axes) and mask.axes[0] != 0
    )
