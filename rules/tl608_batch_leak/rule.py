from collections.abc import Iterator

from trainlint.facts.model.training import Training
from trainlint.facts.seen.layouts import Layout
from trainlint.facts.seen.probes import Probe
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error", by="T")
def check(training: Training) -> Iterator[Finding]:
    if any(layout.is_mismatched for layout in training.facts(Layout)):
        return  # a batch that is taken for time mixes samples: TL609 names the layer
    for probe in training.facts(Probe):
        if probe.kind == "batch" and probe.leaked and not probe.normalises:
            yield Finding(
                probe.at,
                f"In {probe.model}, the output of a sample depends on the other samples of its "
                f"batch{_in(probe)}, in evaluation mode, so predictions change with the batch. Look for a "
                "`view`, `softmax`, `mean` or attention along the batch axis.",
                _made(probe),
                subject=probe.module or None,
                evidence={
                    "change of the sample's output": probe.change,
                    "change of the other outputs": probe.scale,
                },
            )


def _in(probe: Probe) -> str:
    return f" (first in `{probe.module}`)" if probe.module else ""


def _made(probe: Probe) -> tuple[Because, ...]:
    if not probe.module or probe.module_at is None:
        return ()
    return (Because(probe.module_at, f"{probe.module_type} is created here"),)
