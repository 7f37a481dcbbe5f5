import re
from collections.abc import Iterator

from trainlint.facts.api.torch_names import shifts_labels
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.batches import Ignored, PadIsEnd
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Guards, Op, Value, alternatives, constant
from trainlint.facts.seen.targets import Padding
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule

from .collators import only_evaluates

COLLATOR = "transformers.DataCollatorForLanguageModeling"
HARM = "the model never learns to emit the end token, and generation does not stop"
_WITHOUT_PADDING = re.compile(
    r"(?:^|/)(?:distil|dialo|tiny-?|random-?|meta-?|code-?|open_?)*"
    r"(?:gpt-?[2j]|gpt-?neo|gpt-|pythia|llama|vicuna|alpaca|mistral|mixtral|falcon|phi-?[12]|mpt-|gen-|starcoder|santacoder)",
    re.IGNORECASE,
)
"""Models whose tokenizer comes without a padding token. What others have made of them, such as `japanese-gpt2`, may have one."""
ADVICE = "Mask by `attention_mask == 0`, or use a separate padding token."


@rule(Training, level="warning", confidence="likely")
def check(training: Training) -> Iterator[Finding | Open]:
    if isinstance(training, Recorded):
        yield from _seen(training)
        return
    same = {
        one.uid: event
        for event in training.events(PadIsEnd)
        for one in alternatives(event.tokenizer)
        if not (_is_if_missing(event.guards) and _has_padding(one))
    }
    if same:
        for at, tokenizer, how in _masked(training):
            event = same.get(tokenizer.uid)
            if event is not None:
                yield Finding(
                    at,
                    f"The padding token is the end-of-sequence token, and {how}: {HARM}. {ADVICE}",
                    (Because(event.at, "the padding token is set to the end token here"),),
                )


def _is_if_missing(guards: Guards) -> bool:
    """Whether something is only done where a tokenizer has no padding token: `if tokenizer.pad_token is None`."""
    return any(_names_padding(condition) for condition, _ in guards)


def _names_padding(condition: object) -> bool:
    if isinstance(condition, tuple):
        return any(map(_names_padding, condition))
    return isinstance(condition, str) and condition.strip("'\"") in ("pad_token", "pad_token_id")


def _has_padding(tokenizer: Value) -> bool:
    """Whether a tokenizer may be of a model that comes with a padding token: it is named, and not as one without."""
    given = made_of(tokenizer, lambda op: op.name == "getattr")
    names = [one.value for one in given if isinstance(one, Constant) and isinstance(one.value, str)]
    return bool(names) and not any(_WITHOUT_PADDING.search(name) for name in names)


def _masked(training: Training) -> Iterator[tuple[Place, Value, str]]:
    """Where every padding token is removed from the labels, by which tokenizer, in words."""
    for ignored in training.events(Ignored):
        for one in _compared(ignored.where):
            owner = _padding_of(one)
            if owner is not None:
                yield ignored.at, owner, "every label that is a padding token is ignored here"
    for loss in training.events(LossCall):
        owner = _padding_of(loss.setting("ignore_index", None))
        if owner is not None and loss.output.records is not False:
            yield loss.at, owner, "this loss ignores it"
    for call in [] if _makes_own_labels(training) else training.events(Called):
        if (
            call.name == COLLATOR
            and constant(call.argument(1, "mlm")) is False
            and not only_evaluates(training, call.at)
        ):
            tokenizer = call.argument(0, "tokenizer")
            if tokenizer is not None:
                yield call.at, tokenizer, "this collator sets every padding token in the labels to -100"


def _makes_own_labels(training: Training) -> bool:
    """Whether a Hugging Face model gets tokens and no labels: then the labels of a collator are not used."""
    for forward in training.events(Forward):
        for output in alternatives(forward.output):
            call = output.inputs[0] if isinstance(output, Op) and output.inputs else None
            if (
                isinstance(call, Op)
                and shifts_labels(call.name)
                and call.option(0, "input_ids") is not None
                and "labels" not in call.options
            ):
                return True
    return False


def _compared(where: Value) -> tuple[Value, ...]:
    return where.inputs[:2] if isinstance(where, Op) and where.name in ("==", "!=", "eq", "ne") else ()


def _padding_of(value: Value | None) -> Value | None:
    """Whose padding token a value is the number of."""
    match value:
        case Op(name="getattr", inputs=(owner, *_), options={"name": Constant(value="pad_token_id")}):
            return owner
    return None


def _seen(training: Training) -> Iterator[Finding | Open]:
    known = training.facts(Padding)
    if not any(one.ends for one in known):
        for event in (*training.events(Ignored), *training.events(LossCall)):
            yield Open(event.at, "whether the padding token also ends texts")
    for one in known:
        if one.padded and one.ends and not one.ends_counted and not one.counted:
            yield Finding(
                _where(training, one),
                f"Token {one.token} is padding, and it is also a real token in {one.ends} places, apparently "
                f"the end of a text; the loss ignores all of these: {HARM}. {ADVICE}",
                evidence={
                    "token": one.token,
                    "as padding": one.padded,
                    "as a real token": one.ends,
                    "of them in the loss": one.ends_counted,
                },
            )


def _where(training: Training, padding: Padding) -> Place:
    """Where the program removes this token from the labels; where the loss is, if that was not seen."""
    for ignored in training.events(Ignored):
        if any(constant(one) == padding.token for one in _compared(ignored.where)):
            return ignored.at
    return padding.at
