from collections.abc import Iterator

from trainlint.facts.step import Layout
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Layout, level="error", by="T")
def check(layout: Layout) -> Iterator[Finding]:
    if not layout.is_mismatched:
        return
    samples = layout.batch
    steps = layout.shape[0] if layout.batch_first else layout.shape[1]
    yield Finding(
        layout.at,
        f"{layout.type} was made with `batch_first={layout.batch_first}`, so of this input {list(layout.shape)} it "
        f"takes the {samples} samples for {samples} steps of a sequence, and the {steps} steps for samples: information "
        f"passes between samples, and not along the sequence. Make it with `batch_first={not layout.batch_first}`, or "
        "transpose the first two axes.",
        evidence={"input": list(layout.shape), "batch": samples, "batch_first": layout.batch_first},
    )
