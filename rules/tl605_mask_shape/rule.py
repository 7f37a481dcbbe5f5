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
            f"This mask has the shape {list(mask.shape)}, but {wanted} {list(mask.scores)}, so nothing can be masked. "
            "Bring its axes to where the samples, queries and keys of the scores are.",
            evidence=evidence,
        )
    elif mask.is_padding and _lies_elsewhere(mask):
        axis = mask.axes[0]
        yield Finding(
            mask.at,
            f"The first axis of this padding mask {list(mask.shape)} is the batch, but broadcasting lays it along "
            f"axis {axis} of the scores {list(mask.scores)}, which only happens to be as long: each sample is masked "
            f"with the padding of others. Give it an axis of size 1 for each axis between batch and keys.",
            evidence=evidence,
        )


def _lies_elsewhere(mask: MaskSeen) -> bool:
    """Whether the batch of the mask is not the batch of the scores."""
    samples = mask.shape[0]
    return (
        samples > 1 and samples == mask.scores[0] and len(mask.shape) == len(mask.axes) and mask.axes[0] != 0
    )
