from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.layers import layer_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import AttentionCall, Operation
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op
from trainlint.facts.seen.layouts import Layout
from trainlint.finding import Because, Finding, Open, Place, not_shown_by_runs
from trainlint.rule import rule

from .convolved import turned_features
from .positions import misplaced
from .samples_first import attended_samples, given_samples, is_one_of_several
from .time_axis import is_last_of_second_axis, is_time_first, misread

ATTEND = (
    "TransformerEncoder TransformerEncoderLayer TransformerDecoder TransformerDecoderLayer MultiheadAttention"
)


@rule(Training, level="error", words=f"LSTM GRU RNN pad_packed_sequence {ATTEND}")
def check(training: Training) -> Iterator[Finding | Open]:
    for layout in training.facts(Layout):
        if layout.is_mismatched:
            yield _of_run(layout)
        elif layout.batch_axis is None:
            yield Open(layout.at, "which axis is the batch")
    reported: set[Place] = set()
    for operation in training.events(Operation):
        part = operation.output
        call = layer_of(part) if part.name == "getitem" else None
        if call is None or call.at is None or not (is_last_of_second_axis(part) and is_time_first(call)):
            continue
        kind = call.name.rpartition(".")[2]
        reported.add(call.at)
        yield Finding(
            call.at,
            f"This {kind} is created without `batch_first=True`, so its input and output are `[time, batch, "
            "features]`, but the last index of axis 1 of its output is used: the last sample at all time "
            "steps, instead of the last time step of all samples. If the batch comes first, pass "
            "`batch_first=True`.",
            (Because(operation.at, "the last index of axis 1 is selected here"),),
        )
    if not isinstance(training, Recorded):
        yield from not_shown_by_runs(_misread(training, reported))
        yield from _misplaced(training, reported)
        yield from _turned(training, reported)
        yield from not_shown_by_runs(_given_samples(training, reported))


def _misread(training: Training, reported: set[Place]) -> Iterator[Finding]:
    """Readers of a sequence, or of the last hidden state, on the way to a loss, or to what a model alone returns."""
    used = [loss.input for loss in training.events(LossCall) if loss.input is not None]
    used += [returned.value for returned in training.handed_out()]
    for op in reached(used):
        if not isinstance(op, Op) or op.at is None:
            continue
        found = misread(op)
        if found is None or found.call.at is None:
            continue
        reported.add(found.call.at)
        yield Finding(
            op.at,
            f"This {found.what} of `{found.axes}`, so it mixes or drops samples of the batch. Read the other axis, or "
            "change `batch_first` where the layer, or the padded sequence, is created.",
            (Because(found.call.at, "it comes from here"),),
        )


def _misplaced(training: Training, reported: set[Place]) -> Iterator[Finding]:
    """Positions along the batch of an attention layer."""
    for call in training.events(AttentionCall):
        found = misplaced(call)
        if found is not None and found.op.at is not None:
            kind = call.name.rpartition(".")[2]
            if call.at is not None:
                reported.add(call.at)
            yield Finding(
                found.op.at,
                f"These positions lie along axis {found.axis}, which is the batch of this {kind}: each sample gets the "
                "position of its place in the batch, and all its time steps get the same. Turn the table, or change "
                "`batch_first` where the layer is created.",
                (Because(call.at, f"this {kind} takes the result as a batch"),),
                is_shown_by_runs=False,
            )


def _turned(training: Training, reported: set[Place]) -> Iterator[Finding]:
    """Recurrent layers that take the batch of a convolution for time."""
    used = [loss.input for loss in training.events(LossCall) if loss.input is not None]
    used += [returned.value for returned in training.handed_out()]
    for call in reached(used):
        convolved = turned_features(call) if isinstance(call, Op) and call.at is not None else None
        if isinstance(call, Op) and call.at is not None and convolved is not None:
            kind = call.name.rpartition(".")[2]
            reported.add(call.at)
            yield Finding(
                call.at,
                f"This {kind} is created without `batch_first=True`, so it takes `[time, batch, features]`, but it is given the "
                "features of a convolution, whose batch is still the first axis: samples are taken for time steps. Pass "
                "`batch_first=True`, or put the time first.",
                (Because(convolved.at, "the features come from here"),) if convolved.at is not None else (),
            )


def _given_samples(training: Training, reported: set[Place]) -> Iterator[Finding]:
    """Layers that run along the samples of a shuffled batch."""
    used = [loss.input for loss in training.events(LossCall) if loss.input is not None]
    used += [returned.value for returned in training.handed_out()]
    found = [(one, given_samples(one), "") for one in reached(used) if isinstance(one, Op)]
    for each in training.events(AttentionCall):
        found.append((each.output, attended_samples(each), "attention from sample to sample may be meant"))
    for call, batch, doubt in found:
        if batch is None or call.at is None or call.at in reported or not is_one_of_several(training, batch):
            continue
        kind = call.name.rpartition(".")[2]
        yield Finding(
            call.at,
            f"This {kind} is created without `batch_first=True`, so it takes `[time, batch, features]`, but it is given batches "
            "whose first axis still holds the samples, which the loader shuffles: it takes samples for time steps. Pass "
            "`batch_first=True`, or put the time first.",
            (Because(batch.at, "the batch comes from here"),) if batch.at is not None else (),
            confidence="likely" if doubt else None,
            doubt=doubt,
        )


def _of_run(layout: Layout) -> Finding:
    samples = layout.batch
    steps = layout.shape[0] if layout.batch_first else layout.shape[1]
    return Finding(
        layout.at,
        f"{layout.type} has `batch_first={layout.batch_first}`, so in this input {list(layout.shape)} it "
        f"treats the {samples} samples as {samples} time steps, and the {steps} time steps as samples: "
        "information flows between samples, and not along the sequence. Pass "
        f"`batch_first={not layout.batch_first}`, or transpose the first two axes.",
        evidence={"input": list(layout.shape), "batch": samples, "batch_first": layout.batch_first},
    )
