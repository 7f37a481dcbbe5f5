from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import contents
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.sequences import batches, part
from trainlint.facts.model.events.batches import Ignored
from trainlint.facts.model.events.frameworks import Formatted
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, Written, constant
from trainlint.facts.seen.targets import Prompts
from trainlint.finding import Finding, Open
from trainlint.rule import rule

from .columns import ANSWERS, ASKS, column, columns
from .inverted import inverted

_CHOSEN = frozenset(("completion_only_loss", "assistant_only_loss"))
"""Settings of trl that say which tokens count."""

_MOST = 400
_DOUBT = "which columns are prompts and answers is only known by their names"
_ADVICE = (
    "To train on answers alone, set the labels of the prompts to -100; some train on both on purpose, which helps where "
    "answers are short."
)


@rule(Training, level="info", words="add_special_tokens truncation eos_token eos_token_id")
def check(training: Training) -> Iterator[Finding | Open]:
    if isinstance(training, Recorded):
        yield from _seen(training)
        return
    for place in dict.fromkeys(inverted(training)):
        yield Finding(
            place,
            "The answer is left out of the loss here, and the prompt is not: the model learns to write prompts. Set the "
            "labels of the prompt to -100: `labels[:length] = -100`.",
            level="error",
            confidence="likely",
            doubt="which part is the prompt is only known by its place and its names",
        )
    for one in training.events(Formatted):
        if any(map(_asks_and_answers, contents(one.text))) and not _says_what_counts(one.trainer):
            yield Finding(
                one.at,
                "Prompt and answer are one text here, and the loss is over all of it. Give the data set the columns "
                "`prompt` and `completion` instead of `formatting_func` to train on answers alone.",
                confidence="likely",
                doubt=_DOUBT,
            )
    if training.events(Ignored):
        return
    known = batches(training)
    for loss in training.events(LossCall):
        if loss.function != "cross_entropy" or loss.target is None or loss.is_open:
            continue
        found = part(loss.target, known)
        if (
            found is not None
            and not _is_one_position(found.of)
            and any(is_made_of(one.loss, loss.output, True) for one in training.events(Backward))
            and constant(loss.setting("reduction", "mean")) in ("mean", "sum")
            and any(map(_asks_and_answers, reached([found.of], most=_MOST)))
        ):
            said = f"The tokens of prompts count in this loss. {_ADVICE}"
            yield Finding(loss.at, said, confidence="likely", doubt=_DOUBT)


def _seen(run: Recorded) -> Iterator[Finding | Open]:
    found = run.facts(Prompts)
    for loss in run.events(LossCall):
        if all(one.at != loss.at for one in found):
            yield Open(loss.at, "which tokens belong to prompts")
    for one in found:
        if one.counted * 2 > one.prompt:
            yield Finding(
                one.at,
                f"{one.counted / one.targets:.0%} of the targets stand before `{one.marker.strip()}`, in prompts. {_ADVICE}",
                evidence={
                    "texts looked at": one.texts,
                    "targets": one.targets,
                    "of them in prompts": one.counted,
                },
            )


def _is_one_position(value: Value) -> bool:
    """Whether a tensor may be one position of each text, such as the last."""
    return isinstance(value, Op) and value.name == "getitem" and column(value) is None


def _asks_and_answers(value: Value) -> bool:
    """Whether a text is put together of a prompt and its answer."""
    if not isinstance(value, Written):
        return False
    found = columns(value.fields)
    return not found.isdisjoint(ASKS) and not found.isdisjoint(ANSWERS)


def _says_what_counts(trainer: Object) -> bool:
    """Whether something other than the text may decide which tokens count."""
    settings = trainer.argument(1, "args")
    plain = settings is None or (isinstance(settings, Op) and _CHOSEN.isdisjoint(settings.options))
    return trainer.is_open or "data_collator" in trainer.options or not plain
