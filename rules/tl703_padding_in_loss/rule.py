from collections.abc import Iterator

from trainlint.facts.api.losses import IGNORED
from trainlint.facts.ask.evidence import numbers_of
from trainlint.facts.ask.named_parts import named_part
from trainlint.facts.ask.padding import Padded, is_padding_id, padded
from trainlint.facts.ask.sequences import Batches, batches, index_of
from trainlint.facts.model.events.batches import BatchMade, Ignored
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives, constant
from trainlint.facts.seen.targets import Padding
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .told_by_masks import named_padding

OVER_TOKENS = ("cross_entropy", "nll_loss")
_OF_MODELS = Constant(value=IGNORED)
HARM = "the model is trained to predict padding, which is easy, so the loss looks too good"


@rule(
    Training,
    level="error",
    confidence="likely",
    words="pad_sequence truncation text_target return_tensors add_special_tokens eos_token_id pad_token_id",
)
def check(training: Training) -> Iterator[Finding | Open]:
    known = batches(training)
    for loss in training.events(LossCall):
        if loss.function in OVER_TOKENS and loss.output.records is not False:
            yield from _of_loss(loss, known)
    if isinstance(training, Recorded):
        yield from _seen(training)
        return
    yield from _told_by_masks(training, known)
    yield from _of_batches(training, known)
    if not training.events(Ignored):
        for forward in training.events(Forward):
            if forward.records is not False:
                yield from _of_labels(forward, known)


def _of_loss(loss: LossCall, known: Batches) -> Iterator[Finding | Open]:
    if _is_not_plain(loss):
        return
    found = padded(loss.target, known)
    if found is None or found.value is None:
        yield Open(loss.at, "what these targets are padded with")
        return
    ignored = loss.setting("ignore_index", IGNORED)
    if _certainly_counts(found.value, ignored):
        numbers = numbers_of(found.by)
        if numbers.get("padded") == 0:
            yield Open(loss.at, "whether longer batches are padded")
            return
        evidence = {"padded positions": int(numbers["padded"])} if "padded" in numbers else {}
        yield Finding(
            loss.at,
            f"These targets are padded with {_shown(found)}, but {loss.name} only ignores "
            f"{constant(ignored)}: {HARM}. Pass `ignore_index`.",
            (Because(found.by.at, "the targets are padded here"),) if found.by.at is not None else (),
            evidence=evidence,
        )


def _told_by_masks(training: Training, known: Batches) -> Iterator[Finding]:
    """A model is told which targets are padding, and the loss counts them."""
    for loss in training.events(LossCall):
        is_over_tokens = loss.function in OVER_TOKENS and loss.output.records is not False
        if not is_over_tokens or _is_not_plain(loss) or padded(loss.target, known) is not None:
            continue
        found = named_padding(training, loss)
        ignored = constant(loss.setting("ignore_index", IGNORED))
        if found is not None and isinstance(ignored, int) and found[1] != ignored:
            mask, token = found
            yield Finding(
                loss.at,
                f"The model is given a mask of the targets that are {token}, but {loss.name} only ignores {ignored}: "
                f"{HARM}. Pass `ignore_index={token}`.",
                (Because(mask.at, "the mask is made here"),) if mask.at is not None else (),
                confidence="likely",
                doubt="where the targets are made is not in sight, and what the mask leaves out may be no padding",
            )


def _is_not_plain(loss: LossCall) -> bool:
    """Whether each position has a loss of its own, which a mask may weigh, or each class a weight."""
    return constant(loss.setting("reduction", "mean")) not in ("mean", "sum") or _is_weighted(loss)


def _is_weighted(loss: LossCall) -> bool:
    """Whether classes are weighted: padding may have a weight of 0."""
    given = loss.setting("weight", None)
    return not (isinstance(given, Constant) and given.value is None)


def _certainly_counts(padding: Value, ignored: Value | None) -> bool:
    known, wanted = constant(padding), constant(ignored)
    if not isinstance(wanted, int):
        return False
    if isinstance(known, (int, float)):
        return known != wanted
    return wanted == IGNORED and (is_padding_id(padding) or _is_no_name(padding))


def _is_no_name(value: Value) -> bool:
    """Whether a value is the number of the class of what is no name: `label_numbers["O"]`."""
    return isinstance(value, Op) and value.name == "getitem" and constant(index_of(value)) == "O"


def _shown(found: Padded) -> str:
    known = constant(found.value)
    if isinstance(known, (int, float)):
        return f"{known:g}"
    return "the padding token" if found.value is None or is_padding_id(found.value) else "the class `O`"


def _of_labels(forward: Forward, known: Batches) -> Iterator[Finding]:
    """A Hugging Face model gets the padded ids of a tokenizer as labels."""
    for output in alternatives(forward.output):
        call = output.inputs[0] if isinstance(output, Op) and output.inputs else None
        model = forward.module
        if (
            not isinstance(call, Op)
            or not isinstance(model, Object)
            or not model.type.startswith("transformers.")
        ):
            continue
        found = padded(call.options.get("labels"), known)
        if found is not None and found.value is not None and _certainly_counts(found.value, _OF_MODELS):
            yield Finding(
                forward.at,
                f"These labels are padded with {_shown(found)}, but the model only ignores {IGNORED}, whatever the "
                f"attention mask says: {HARM}. Pad the labels with {IGNORED}.",
                (Because(found.by.at, "the labels are padded here"),) if found.by.at is not None else (),
            )
        elif found is not None and found.value is None:
            yield Finding(
                forward.at,
                f"The labels are padded by the tokenizer, and the model only ignores {IGNORED}: {HARM}. "
                "Write `labels = labels.masked_fill(attention_mask == 0, -100)`.",
                (Because(found.by.at, "padded here"),) if found.by.at is not None else (),
            )


def _of_batches(training: Training, known: Batches) -> Iterator[Finding]:
    """A function that gives batches gives padded tokens as labels, and nothing in the program leaves any label out."""
    for one in training.events(BatchMade):
        labels = None if one.leaves_out else named_part(one.batch, "labels")
        found = padded(labels, known)
        if labels is None or found is None or not _are_tokens(found, one.batch, known):
            continue
        at = labels.at if isinstance(labels, Op) and labels.at is not None else one.at
        yield Finding(
            at,
            f"These labels are padded with the padding token, and models only ignore {IGNORED}: {HARM}. "
            "Write `labels = labels.masked_fill(attention_mask == 0, -100)`.",
            (Because(found.by.at, "padded here"),) if found.by.at not in (None, at) else (),
            confidence="likely",
            doubt="what is given these labels is not in sight, and may leave out the padding",
        )


def _are_tokens(found: Padded, batch: Value, known: Batches) -> bool:
    """Whether labels certainly are padded as tokens are: by a tokenizer, with its token, or together with the inputs."""
    if found.value is None or is_padding_id(found.value):
        return True
    inputs = padded(named_part(batch, "input_ids"), known)
    return inputs is not None and inputs.by is found.by


def _seen(training: Training) -> Iterator[Finding | Open]:
    known = training.facts(Padding)
    for forward in training.events(Forward):
        if all(forward.at != one.at for one in known):
            yield Open(forward.at, "which of the labels are padding")
    for one in known:
        if one.counted:
            yield Finding(
                one.at,
                f"{one.counted} of {one.targets} targets that count in the loss are padding, token {one.token}: {HARM}. "
                f"Set them to {one.ignored}, or pass `ignore_index={one.token}`.",
                evidence={
                    "padded positions": one.padded,
                    "of them in the loss": one.counted,
                    "all targets in the loss": one.targets,
                    "known by": one.by,
                    "ignored": one.ignored,
                },
            )
