from collections.abc import Iterator

from trainlint.facts.api.classes import DETECTORS
from trainlint.facts.api.noted import CLOCKS, LOGS_NUMBERS, SIZED_BY_DATA, SYNCHRONISES
from trainlint.facts.ask.devices import ways_to_be_on
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.placement import device_of, homes_of
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Moved
from trainlint.facts.model.events.operations import Operation, ToHost
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value
from trainlint.finding import Because, Finding
from trainlint.rule import rule

WAITS = (
    SYNCHRONISES
    | LOGS_NUMBERS
    | SIZED_BY_DATA
    | {"nonzero", "masked_select", "unique"}
    | {f"builtins.{name}" for name in ("print", "float", "int", "str", "repr", "format")}
)
"""Calls that wait for the device, as far as they are of tensors."""


@rule(Training, level="warning", confidence="likely", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    happened = training.events(Event)
    if not any(ways_to_be_on(one.device, "cuda") for one in training.events(Moved)):
        return
    for place, event in enumerate(happened):
        if not isinstance(event, Operation) or event.output.name != "-" or len(event.output.inputs) != 2:
            continue
        end, start = map(_reading, event.output.inputs)
        if start is None or end is None or start.loops != end.loops:
            continue
        last = _read_at(happened, end, place)
        first = _read_at(happened, start, last)
        work = _unfinished(happened[first:last], end.loops) if 0 <= first < last else None
        if work is None or _runs_on_host(training, work):
            continue
        if end.at is not None and start.at is not None:
            yield Finding(
                end.at,
                "CUDA is asynchronous: this clock is read when the work is queued, not when it is done, so "
                "the measured time is too short. Call `torch.cuda.synchronize()` before both readings, or "
                "measure with `torch.cuda.Event(enable_timing=True)`.",
                (
                    Because(start.at, "timed from here"),
                    Because(work.at, "device work is queued here"),
                ),
            )


def _reading(value: Value) -> Op | None:
    """A reading of the host's clock."""
    return value if isinstance(value, Op) and value.name in CLOCKS else None


def _read_at(happened: list[Event], reading: Op, before: int) -> int:
    """The index of the last clock reading before another event; -1 if none."""
    places = range(before - 1, -1, -1)
    return next((n for n in places if isinstance(happened[n], Called) and happened[n].at == reading.at), -1)


def _unfinished(between: list[Event], loops: tuple[int, ...]) -> Event | None:
    """The last work of a model that nothing waits for; None where there is none, or it is not known."""
    last: Event | None = None
    for event in between:
        if isinstance(event, Backward) and _is_on_host(event.loss):
            continue
        if isinstance(event, (Forward, Backward, OptimizerStep)) and not _waits(event):
            is_repeated = event.loops != loops
            if is_repeated and not isinstance(event, Forward):
                return None
            last = event if not any(map(_waits, _inside(event, between))) else None
        elif isinstance(event, (Drawn, Escape)):
            if isinstance(event, Drawn):
                return None
            last = None
        elif _waits(event):
            last = None
    return last


def _inside(call: Event, between: list[Event]) -> list[Event]:
    """What happens in the forward that is called there."""
    depth = len(call.calls)
    return [one for one in between if one.calls[: depth + 1] == (*call.calls, call.at)]


def _runs_on_host(training: Training, work: Event) -> bool:
    """Whether a model certainly is on the CPU when it is called, in a program that has others on a device."""
    return (
        isinstance(work, Forward)
        and isinstance(work.module, Object)
        and homes_of(training, work.module, work, unseen=True) == {"cpu"}
    )


def _is_on_host(loss: Value) -> bool:
    """Whether a loss is certainly computed from tensors on the CPU alone."""
    parts = list(made_of(loss))
    ends = [one for one in parts if not one.parts() and not isinstance(one, Constant)]
    return all(device_of(one) == "cpu" for one in ends) and not any(
        isinstance(one, Op) and one.name in ("to", "cuda") for one in parts
    )


def _waits(event: Event) -> bool:
    """Whether something certainly or possibly waits for the device."""
    match event:
        case OptimizerStep():
            return event.scaler is not None
        case Forward(module=Object() as module):
            return module.type.startswith(DETECTORS)
        case Moved():
            return event.waits and not isinstance(event.what, Object)
        case Called():
            is_search = event.name == "torch.where" and len(event.args) + len(event.options) == 1
            return is_search or event.name in WAITS
    return isinstance(event, ToHost)
