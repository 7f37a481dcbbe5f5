from collections.abc import Iterator

from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.seen.masks import MaskSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding, Level
from trainlint.rule import rule

NOTHING_LEFT = -1e3
"""A fill below this gives a score zero weight."""


@rule(Training, level="error", by="T")
def check(training: Training) -> Iterator[Finding]:
    for mask in training.facts(MaskSeen):
        if not mask.empty_rows or not mask.before_softmax:
            continue
        if mask.fill is not None and mask.fill > NOTHING_LEFT:
            continue
        level, what = _judged(mask, training)
        if not what and _is_on_queries(mask, training):
            yield _on_queries(mask)
        elif what:
            yield Finding(
                mask.at,
                f"This mask masks out every key for {mask.empty_rows} of {mask.rows} queries: {what}. Leave "
                "every query at least one key, such as itself.",
                level=level,
                evidence={
                    "queries without keys": mask.empty_rows,
                    "queries": mask.rows,
                    "mask": list(mask.shape),
                    "scores": list(mask.scores),
                },
            )


def _is_on_queries(mask: MaskSeen, training: Training) -> bool:
    """Whether a padding mask takes out whole queries, while nothing takes out the padded keys."""
    queries, keys = len(mask.scores) - 2, len(mask.scores) - 1
    sizes = dict(zip(mask.axes, mask.shape, strict=False))
    if not mask.is_padding or mask.is_mended or len(mask.shape) != len(mask.axes):
        return False
    if sizes.get(keys) != 1 or sizes.get(queries, 1) == 1 or mask.scores[-2] != mask.scores[-1]:
        return False
    others = (one for one in training.facts(MaskSeen) if one.scores == mask.scores and one.at != mask.at)
    return not any(dict(zip(one.axes, one.shape, strict=False)).get(keys, 1) > 1 for one in others)


def _on_queries(mask: MaskSeen) -> Finding:
    right = [*mask.shape[:-2], mask.shape[-1], mask.shape[-2]]
    return Finding(
        mask.at,
        f"This padding mask {list(mask.shape)} has size 1 along the keys and varies along the queries: it masks "
        f"out every key for {mask.empty_rows} of {mask.rows} queries, and real tokens still attend to padding. "
        f"Give it the shape {right}, so that it masks out keys.",
        evidence={
            "queries without keys": mask.empty_rows,
            "queries": mask.rows,
            "mask": list(mask.shape),
            "scores": list(mask.scores),
        },
    )


def _judged(mask: MaskSeen, training: Training) -> tuple[Level | None, str]:
    """What happens to such a query; empty where that may be harmless, as for a query that is padding itself."""
    if mask.is_nan:
        return None, "softmax returns NaN for them, which reaches the loss or the gradients" if _is_broken(
            training
        ) else ""
    if mask.is_mended:
        return None, ""
    is_everything = mask.empty_rows == mask.rows and mask.scores[-1] > 1
    is_of_all_samples = mask.is_shared or mask.by_position
    if mask.fill is not None:
        weights = "they attend to every key equally, including the masked ones"
        return None, weights if is_everything or is_of_all_samples else ""
    nothing = "they attend to nothing"
    return None if is_everything else "warning", nothing if is_everything or is_of_all_samples else ""


def _is_broken(training: Training) -> bool:
    """Whether a loss is NaN, or a gradient holds NaN."""
    values = [
        loss.output.seen.numbers.get("value", 0.0)
        for loss in training.events(LossCall)
        if loss.output.seen is not None
    ]
    gradients = [one.gradient for one in training.facts(ParameterSeen) if one.gradient is not None]
    return any(value != value for value in values) or any(one.non_finite for one in gradients)
