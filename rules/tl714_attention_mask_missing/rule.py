import re
from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.api.encoders import attends_to_padding
from trainlint.facts.api.torch_names import shifts_labels
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.loaders import comes_from_loader
from trainlint.facts.ask.named_parts import all_made, named_part
from trainlint.facts.ask.padding import Padded, padded
from trainlint.facts.ask.sequences import Batches, batches
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Object, Op, Unknown, Value, alternatives, constant
from trainlint.facts.seen.batches import Unmasked
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

_SEVERAL = re.compile(
    r"(?:\w+_)?(?:batch|examples|samples|texts|sentences|sents|captions|prompts|questions|queries|documents|docs|passages|"
    r"reviews|titles|answers|utterances)|batch_(?:text|sentence|prompt|question|caption|document)s?"
)
"""What the texts of several samples are called together."""

_HARM = "it attends to padding, and what it gives for a text depends on the texts beside it"
_HARM_OF_MODELS = "they attend to padding, and what they give for a text depends on the texts beside it"
_ADVICE = "Pass `attention_mask` of the tokenizer, or `input_ids != pad_token_id`."


@rule(Training, level="warning", words="pad_sequence return_tensors")
def check(training: Training) -> Iterator[Finding | Open]:
    if isinstance(training, Recorded):
        yield from _seen(training)
        return
    known = batches(training)
    for batch in all_made(training):
        yield from _masks_nothing(batch, known)
    called = (one.module for one in training.events(Forward) if isinstance(one.module, Object))
    if not any(_may_need_mask(one) for one in (*training.objects, *called)):
        return
    for call in _calls(training):
        if call.at is None or not _lacks_mask(call):
            continue
        found = _padding(call, known)
        if found is not None:
            yield Finding(
                call.at,
                f"Padded texts go into this model without an attention mask: {_HARM}. {_ADVICE}",
                (Because(found.by.at, "padded here"),) if found.by.at is not None else (),
            )


def _calls(training: Training) -> Iterator[Op]:
    """The calls of models that losses are made of, and all others."""
    seen: set[int] = set()
    made = reached([one.loss for one in training.events(Backward)])
    given = (
        one.inputs[0]
        for each in training.events(Forward)
        for one in alternatives(each.output)
        if isinstance(one, Op) and one.inputs
    )
    for value in (*made, *given):
        if isinstance(value, Op) and value.uid not in seen:
            seen.add(value.uid)
            yield value


def _masks_nothing(batch: Value, known: Batches) -> Iterator[Finding]:
    """The tokens of a batch are padded, and its attention mask is 1 everywhere; not where the labels are these tokens: a
    causal model sees no padding behind a text."""
    mask, ids, labels = (named_part(batch, name) for name in ("attention_mask", "input_ids", "labels"))
    if ids is None or not isinstance(mask, Op) or mask.at is None or not _is_one_everywhere(mask):
        return
    found = padded(ids, known)
    if found is None or (labels is not None and is_made_of(labels, found.by)):
        return
    yield Finding(
        mask.at,
        f"This attention mask is 1 at padding too, and models cannot tell: {_HARM_OF_MODELS}. "
        "Make it of the lengths, or of `input_ids != pad_token_id`.",
        (Because(found.by.at, "padded here"),) if found.by.at is not None else (),
        confidence="likely",
        doubt="the model that is given this batch is not in sight, and may be causal",
    )


def _is_one_everywhere(mask: Op) -> bool:
    while mask.name in ("long", "bool", "to", "int", "float") and mask.inputs and not mask.written:
        if not isinstance(mask.inputs[0], Op):
            return False
        mask = mask.inputs[0]
    return mask.name in ("ones_like", "ones", "numpy.ones", "numpy.ones_like") and not mask.written


def _may_need_mask(model: Object) -> bool:
    return attends_to_padding(model.type, _weights(model)) or shifts_labels(model.type)


def _weights(model: Object) -> object:
    return constant(model.argument(0, "pretrained_model_name_or_path"))


def _seen(run: Recorded) -> Iterator[Finding | Open]:
    for one in run.facts(Unmasked):
        if not one.padded:
            yield Open(one.at, "whether other batches are padded")
            continue
        yield Finding(
            one.at,
            f"{one.padded} of {one.tokens} tokens are padding, and `{one.model}` has no attention mask: {_HARM}. {_ADVICE}",
            evidence={"tokens": one.tokens, "of them padding": one.padded},
        )


def _lacks_mask(call: Op) -> bool:
    """Whether a call of a library's model certainly has no attention mask."""
    if call.is_open or call.name == "output" or not isinstance(call.owner, Object) or len(call.inputs) > 1:
        return False
    mask = call.options.get("attention_mask")
    return call.owner.definition is None and (
        mask is None or (isinstance(mask, Constant) and mask.value is None)
    )


def _padding(call: Op, known: Batches) -> Padded | None:
    """What pads the tokens of a model, where that needs a mask."""
    ids = call.option(0, "input_ids")
    owner = call.owner
    if ids is None or owner is None or any(_is_of_single_texts(one) for one in reached([ids])):
        return None
    found = padded(ids, known)
    if found is None or not _is_of_several_texts(found.by):
        return None
    if attends_to_padding(owner.type, _weights(owner)):
        return found
    return found if shifts_labels(owner.type) and _pads_left(found.by) else None


def _is_of_single_texts(value: Value) -> bool:
    """Whether it is a loader whose batches may be of one text each, which needs no padding."""
    if not isinstance(value, Object) or not value.is_a(LOADER):
        return False
    size = value.argument(1, "batch_size")
    return size is None or constant(size) == 1


def _is_of_several_texts(call: Op) -> bool:
    """Whether what is padded certainly is more than one text, or padded to a length of its own."""
    if call.name != "call" or constant(call.options.get("padding")) == "max_length":
        return True
    texts = call.inputs[1] if len(call.inputs) > 1 else call.options.get("text")
    return isinstance(texts, Items) or (texts is not None and any(map(_gives_several, reached([texts]))))


def _gives_several(value: Value) -> bool:
    """Whether it is a loader, or by its name a batch, or what a loop over a loader draws."""
    match value:
        case Object():
            return value.is_a(LOADER)
        case Unknown(text=name):
            return _SEVERAL.fullmatch(name) is not None
        case Op(name="iterate"):
            return comes_from_loader(value)
    return False


def _pads_left(call: Op) -> bool:
    """Whether a tokenizer is told to put padding before its texts, where causal models see it."""
    return any(
        isinstance(one, Op) and constant(one.options.get("padding_side")) == "left"
        for one in alternatives(call.inputs[0] if call.inputs else None)
    )
