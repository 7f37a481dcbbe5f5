import re
from collections.abc import Iterator

from trainlint.facts.api.gradients import SAVES_RESULT
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import shown
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import Overwritten, RequiresGrad
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, compatible, constant
from trainlint.facts.seen.raised import Failure
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule

from .outputs import goes_into_output
from .stale import stale

SAVED = "modified by an inplace operation"
LEAF = re.compile(r"leaf Variable that requires grad is being used in an in-place operation")
TOLD = re.compile(
    r"\[torch\.[\w.]+ \[([\d, ]*)\]\](?:, which is output \d+ of (\w+),)? is at version (\d+); expected version (\d+)"
)
MOST_VALUES = 50_000


@rule(Training, level="error")
def check(run: Training) -> Iterator[Finding]:
    yield from _seen(run) if isinstance(run, Recorded) else _read(run)


def _read(training: Training) -> Iterator[Finding]:
    """What the source alone shows: parameters, and results that their own operation saves."""
    for change in training.events(Overwritten):
        if change.records is not True:
            continue
        if change.tensor.name not in SAVES_RESULT:
            # else a caller may freeze it, or disable gradients
            is_seen = training.entry == "program" and not _is_of_each(change.tensor)
            is_sure = (is_seen and not training.events(RequiresGrad)) or _is_trained_before(training, change)
            if is_sure and _wants_gradient(change.tensor):
                yield _leaf(change.at, "This", "")
            continue
        backward = _needs(training, change)
        is_output = backward is None and goes_into_output(training, change)
        if change.tensor.at is not None and (backward is not None or is_output):
            needed = (
                (Because(backward.at, "and this backward needs the old values"),)
                if backward is not None
                else ()
            )
            yield Finding(
                change.at,
                f"autograd saves the result of `{change.tensor.text}` for the backward pass, and this "
                "overwrites it, so `backward()` raises. Write it out of place, as in `x = x + 1` for `x += "
                "1`.",
                (Because(change.tensor.at, "this result is saved"), *needed),
                confidence="likely" if is_output else None,
                doubt="who calls this is not in sight, and may do so without gradients" if is_output else "",
            )
    for one in stale(training):
        yield _stepped(
            one.step.at, (Because(one.backward.at, "and this backward needs the old weights"),), {}
        )


def _stepped(at: Place, because: tuple[Because, ...], evidence: dict[str, object]) -> Finding:
    return Finding(
        at,
        "This step changes weights in place that a later `backward()` needs unchanged, so that `backward()` "
        "raises. Run every `backward()` of a forward pass before the step, or call the model again after it.",
        because,
        evidence=evidence,
    )


def _wants_gradient(parameter: Op) -> bool:
    return constant(parameter.options.get("requires_grad")) is not False


def _is_trained_before(training: Training, change: Overwritten) -> bool:
    """Whether the last `backward()` was called on a loss that is made of the parameter, or that its model has given: gradients are
    enabled, and the parameter wants one, unless that is set in between."""
    events = training.events(Event)
    for event in reversed(events[: events.index(change)]):
        if isinstance(event, RequiresGrad):
            return False
        if isinstance(event, Backward) and compatible(event.guards, change.guards):
            models = {one.uid for one in _models(change.tensor)}
            return is_made_of(event.loss, change.tensor, with_graph=True) or any(
                one.module.uid in models and is_made_of(event.loss, one.output, with_graph=True)
                for one in training.events(Forward)
            )
    return False


def _models(parameter: Op) -> tuple[Value, ...]:
    """The model of which something is one of all parameters, or the weight of one of all layers."""
    if _is_of_each(parameter) and isinstance(parameter.inputs[0], Op):
        parameter = parameter.inputs[0]
    listed = parameter.inputs[0] if parameter.inputs else None
    return listed.inputs if isinstance(listed, Op) and listed.name in ("parameters", "modules") else ()


def _is_of_each(parameter: Op) -> bool:
    """Whether it is an attribute of each layer in turn."""
    return parameter.name == "getattr" and isinstance(parameter.inputs[0], Op)


def _needs(training: Training, change: Overwritten) -> Backward | None:
    """A backward after the change that goes through the operation whose result was changed."""
    if not change.tensor.inputs or not attachment(change.tensor.inputs[0]).attached:
        return None
    events = training.events(Event)
    for event in events[events.index(change) :]:
        if (
            isinstance(event, Backward)
            and compatible(event.guards, change.guards)
            and is_made_of(event.loss, change.tensor, with_graph=True)
        ):
            return event
    return None


def _seen(run: Recorded) -> Iterator[Finding]:
    for failure in run.facts(Failure):
        if SAVED in failure.message:
            yield _saved(run, failure)
        elif LEAF.search(failure.message):
            yield _leaf(failure.at, f"`{failure.text}`", failure.message)
    ending = run.ending
    is_told = any(LEAF.search(one.message) for one in run.facts(Failure))
    if ending.at is not None and LEAF.search(ending.error) and not is_told:
        yield _leaf(ending.at, "This", ending.error)


def _leaf(at: Place, text: str, message: str) -> Finding:
    return Finding(
        at,
        f"{text} changes a leaf tensor that requires grad in place, so autograd raises. Do it under "
        "`torch.no_grad()` if it initialises or updates a parameter, and out of place if it is part of the "
        "model.",
        evidence={"error": message.splitlines()[0][:160]} if message else {},
    )


def _saved(run: Recorded, failure: Failure) -> Finding:
    told = TOLD.search(failure.message)
    shape = tuple(map(int, told[1].replace(",", " ").split())) if told else None
    culprit = _changed(run, failure, shape)
    at = culprit.at if culprit is not None else failure.culprit
    text = culprit.text if culprit is not None else failure.culprit_text
    evidence: dict[str, object] = {}
    if told is not None and shape is not None:
        evidence = {"shape": shown(shape), "version": int(told[3]), "version that was saved": int(told[4])}
        if told[2]:
            evidence["autograd node"] = told[2]
    steps = {one.at for one in run.events(OptimizerStep)}
    if at is None:
        return Finding(
            failure.at,
            "A tensor that this `backward()` needs was changed in place after autograd saved it. Write the "
            "change out of place, as in `x = x + 1` for `x += 1`.",
            evidence=evidence,
        )
    here = (Because(failure.at, "and this backward needs the old values"),)
    if at in steps:
        return _stepped(at, here, evidence)
    return Finding(
        at,
        f"`{text}` overwrites a tensor that autograd has saved for the backward pass, so `backward()` "
        "raises. Write it out of place, as in `x = x + 1` for `x += 1`.",
        here,
        evidence=evidence,
    )


def _changed(run: Recorded, failure: Failure, shape: tuple[int, ...] | None) -> Op | None:
    """The latest in-place operation on the way to the loss whose tensor is of this shape."""
    backward = next((one for one in reversed(run.events(Backward)) if one.at == failure.at), None)
    if backward is None or shape is None:
        return None
    pending: list[Value] = [backward.loss]
    seen = {backward.loss.uid}
    for value in pending:
        is_changed = isinstance(value, Op) and value.in_place and value.at is not None and value.attached
        if is_changed and isinstance(value, Op) and value.seen is not None and value.seen.shape == shape:
            return value
        for part in value.parts():
            if part.uid not in seen and len(seen) < MOST_VALUES:
                seen.add(part.uid)
                pending.append(part)
    return None
