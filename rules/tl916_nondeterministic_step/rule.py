from collections.abc import Iterator

from trainlint.facts.seen.probes import Probe
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Probe, level="warning", by="T")
def check(probe: Probe) -> Iterator[Finding]:
    if probe.kind != "repeat" or not probe.leaked:
        return
    where = f" The first difference is in `{probe.module}`." if probe.module else ""
    yield Finding(
        probe.at,
        f"`{probe.model}` was called twice with the same inputs, weights and seed, and returned different "
        f"outputs: a seed does not make this training reproducible.{where} Look for a random generator that "
        "is not seeded, and for uninitialised memory.",
        (Because(probe.module_at, "the outputs of this module differ"),) if probe.module_at else (),
        subject=probe.module or None,
        evidence={"largest change of an output": probe.change, "scale of the output": probe.scale},
    )
