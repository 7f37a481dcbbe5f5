from collections.abc import Iterator

from trainlint.facts.ask.layers import layer_of
from trainlint.facts.model.events import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.seen.layouts import Layout
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .time_axis import is_last_of_second_axis, is_time_first


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for layout in training.facts(Layout):
        if layout.is_mismatched:
            yield _of_run(layout)
        elif layout.batch_axis is None:
            training.leave_open(layout.at)
    for operation in training.events(Operation):
        part = operation.output
        call = layer_of(part) if part.name == "getitem" else None
        if call is None or call.at is None or not (is_last_of_second_axis(part) and is_time_first(call)):
            continue
        kind = call.name.rpartition(".")[2]
        yield Finding(
            call.at,
            f"This {kind} was made without `batch_first=True`, so it takes and gives `[time, batch, features]`, but what "
            "is used of its output is the last of axis 1: of the last sample, at all steps, instead of the last step of "
            "all samples. If the batch comes first, make it with `batch_first=True`.",
            (Because(operation.at, "the last of axis 1 is taken here"),),
        )


def _of_run(layout: Layout) -> Finding:
    samples = layout.batch
    steps = layout.shape[0] if layout.batch_first else layout.shape[1]
    return Finding(
        layout.at,
        f"{layout.type} was made with `batch_first={layout.batch_first}`, so of this input {list(layout.shape)} it "
        f"takes the {samples} samples for {samples} steps of a sequence, and the {steps} steps for samples: information "
        f"passes between samples, and not along the sequence. Make it with `batch_first={not layout.batch_first}`, or "
        "transpose the first two axes.",
        evidence={"input": list(layout.shape), "batch": samples, "batch_first": layout.batch_first},
    )
