"""A mode that the program sets past `train()` and `eval()`, as a run has seen it at the forwards."""

from collections.abc import Iterator

from trainlint.facts.ask.evidence import of_mode
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Object
from trainlint.finding import Because, Finding


def left_off(run: Recorded, trained: list[Forward]) -> Iterator[Finding]:
    """Training forwards in evaluation mode, of modules that were trained in training mode before an evaluation, and whose
    mode no call has changed since."""
    trains = {id(one) for one in trained}
    began: set[int] = set()
    evaluated: dict[int, Forward] = {}
    said: set[object] = set()
    for event in run.events(Event):
        if isinstance(event, ModeChange):
            evaluated.clear()
            continue
        if not isinstance(event, Forward) or not isinstance(event.module, Object) or not event.layers:
            continue
        module = event.module
        is_off = len(event.off) == event.layers
        if id(event) not in trains:
            if is_off and not event.records and module.uid in began:
                evaluated.setdefault(module.uid, event)
        elif not event.off:
            began.add(module.uid)
            evaluated.pop(module.uid, None)
        elif is_off and module.uid in evaluated and (module.uid, event.at) not in said:
            said.add((module.uid, event.at))
            yield Finding(
                event.at,
                f"This training step runs {module.title} in evaluation mode: dropout is off and the running statistics of "
                "batch norm are frozen. Call `train()` before it.",
                (
                    Because(
                        evaluated[module.uid].at,
                        "it was in evaluation mode for this, and was not switched back",
                    ),
                ),
                evidence=of_mode(run, event),
            )
