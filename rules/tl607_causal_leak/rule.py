from collections.abc import Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.seen.probes import Probe
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .attention import leaks


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for probe in training.facts(Probe):
        if probe.kind == "causal" and probe.leaked and probe.shifted:
            yield _of_probe(probe)
    if not isinstance(training, Recorded):
        for at, call, mask, loss in leaks(training):
            kind = call.name.rpartition(".")[2]
            yield Finding(
                at,
                "This is trained to predict the next token, but attends to later tokens: in training it sees the answer, "
                f"and at inference it cannot. Pass a causal mask as `{mask}` to {kind}.",
                (
                    Because(call.at, f"{kind} attends to all tokens here"),
                    Because(loss.at, "the targets are the next tokens here"),
                ),
                is_shown_by_runs=False,  # where no experiment is made
            )


def _of_probe(probe: Probe) -> Finding:
    because: tuple[Because, ...] = ()
    if probe.module_at is not None and probe.module_at != probe.at:
        because = (Because(probe.module_at, "the first layer that sees later positions is created here"),)
    return Finding(
        probe.at,
        f"{probe.model} is trained to predict the next input, but its outputs depend on later "
        f"inputs{_in(probe)}: in training it sees the answer, and at inference it cannot. Mask all later "
        "positions.",
        because,
        subject=probe.module or None,
        evidence={
            "change of earlier outputs": probe.change,
            "change of later outputs": probe.scale,
        },
    )


def _in(probe: Probe) -> str:
    return f" in `{probe.module}`" if probe.module else ""
