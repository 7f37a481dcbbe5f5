from collections.abc import Iterator

from trainlint.facts.seen.probes import Probe
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Probe, level="warning", by="T")
def check(probe: Probe) -> Iterator[Finding]:
    if probe.kind != "repeat" or not probe.leaked:
        return
    where = f" It begins in `{probe.module}`." if probe.module else ""
    yield Finding(
        probe.at,
        f"`{probe.model}` was called twice with the same inputs, weights and seed, and gave other outputs: a seed does not "
        f"make this training repeatable.{where} Look for random numbers that no seed reaches, and for memory that is "
        "never filled.",
        (Because(probe.module_at, "this module gives something else each time"),) if probe.module_at else (),
        subject=probe.module or None,
        evidence={"largest change of an output": probe.change, "scale of the output": probe.scale},
    )
