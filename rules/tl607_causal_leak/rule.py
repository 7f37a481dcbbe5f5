from collections.abc import Iterator

from trainlint.facts.seen.probes import Probe
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Probe, level="error", by="T")
def check(probe: Probe) -> Iterator[Finding]:
    if probe.kind != "causal" or not (probe.leaked and probe.shifted):
        return
    because: tuple[Because, ...] = ()
    if probe.module_at is not None and probe.module_at != probe.at:
        because = (Because(probe.module_at, "the first layer that sees later positions is created here"),)
    yield Finding(
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
