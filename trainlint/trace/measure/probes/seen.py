"""Probes that the experiments after each recorded step have answered already, and what its first losses say."""

from __future__ import annotations

from trainlint.facts.seen.blind_spots import NotTried
from trainlint.facts.seen.losses import LossSeen
from trainlint.facts.seen.probes import Probe
from trainlint.facts.seen.resumes import Resumed
from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.replay import Impossible

_CLOSE = 0.25
"""How far a first loss may be from that of guessing, beside it."""
_FAR = 2.0
"""Beyond so many times the loss of guessing, and so much more, the untrained model is sure of what is wrong."""


def samples_independent(step: Step) -> Tried:
    why = [one.why for one in step.recorded.facts(NotTried) if one.code == "TL608"]
    found = _experiment(step, "batch", why[0] if why else "the batch cannot be taken apart")
    if found.leaked and found.normalises:
        raise Impossible(
            f"a layer of {found.model} mixes samples on purpose, by up to {found.change:.3g} of {found.scale:.3g}"
        )
    return _told(found, "samples-independent", "other samples in the batch change the output of one")


def causal(step: Step) -> Tried:
    found = _experiment(step, "causal", "the targets are not the model's inputs, some positions on")
    return _told(found, "causal", "later inputs change earlier outputs")


def _experiment(step: Step, kind: str, why: str) -> Probe:
    """The worst of what the experiments of a kind have shown. Raises Impossible where there are none."""
    found = [one for one in step.recorded.facts(Probe) if one.kind == kind]
    if not found:
        raise Impossible(why)
    return max(found, key=lambda one: one.leaked)


def _told(found: Probe, name: str, wrong: str) -> Tried:
    numbers = {"change of what must stay": found.change, "change of the rest": found.scale}
    by = f"{found.change:.3g}, where the others change by {found.scale:.3g}"
    if not found.leaked:
        return Tried(name, "passed", f"{found.model}: what must stay changes by {by}", found.at, numbers)
    where = f", in {found.module} ({found.module_type})" if found.module else ""
    return Tried(name, "failed", f"{found.model}: {wrong} by {by}{where}", found.at, numbers)


def chance(step: Step) -> Tried:
    """Compare the first loss with that of guessing."""
    if step.recorder.has_forgotten or step.recorded.facts(Resumed):
        raise Impossible("the recording does not begin with the first step")
    first = next(
        (one for one in step.recorded.facts(LossSeen) if one.step == 0 and one.guessing is not None), None
    )
    if first is None or first.guessing is None:
        raise Impossible("nothing says what guessing gives for this loss")
    numbers = {"first loss": first.value, "loss of guessing": first.guessing}
    said = (
        f"{first.name} begins at {first.value:.3g}, and guessing gives {first.guessing:.3g} ({first.guess})"
    )
    if abs(first.value - first.guessing) <= _CLOSE * first.guessing:
        return Tried("chance", "passed", said, first.at, numbers)
    if first.value > _FAR * first.guessing + _FAR:
        return Tried(
            "chance", "failed", f"{said}: the untrained model is sure of what is wrong", first.at, numbers
        )
    raise Impossible(f"{said}: a pretrained model, or a harmless beginning")
