from collections.abc import Iterator

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.frameworks import Sharded
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error", by="S")
def check(training: Training) -> Iterator[Finding]:
    stepped = {one.uid for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)}
    early: dict[int, tuple[Sharded, Built]] = {}
    fine: set[int] = set()
    for run in training.runs(Built, Sharded):
        for position, event in enumerate(run):
            if not isinstance(event, Sharded) or event.replaces is not True or id(event) in fine:
                continue
            built = _built_before(run[:position], event, stepped)
            if built is None:
                fine.add(id(event))
            else:
                early.setdefault(id(event), (event, built))
    done = set()
    for number, (sharded, built) in early.items():
        if number not in fine and built.object.uid not in done:
            done.add(built.object.uid)
            yield Finding(
                built.at,
                f"`{sharded.name.rpartition('.')[2]}` replaces the parameters of the module by shards later on: this "
                "optimizer holds the old ones, and steps nothing that is trained. Create it after the model is sharded.",
                (Because(sharded.at, "the parameters are replaced here"),),
            )


def _built_before(before: list[Event], sharded: Sharded, stepped: set[int]) -> Built | None:
    """The first optimizer that was created of what is sharded, and that steps."""
    for event in before:
        if not isinstance(event, Built) or not event.object.is_a(OPTIMIZER):
            continue
        if event.object.uid in stepped and _holds(event.object, sharded):
            return event
    return None


def _holds(optimizer: Object, sharded: Sharded) -> bool:
    held = [one for module in modules_held(optimizer)[0] for one in alternatives(module)]
    targets = [one for one in alternatives(sharded.module) if isinstance(one, Object)]
    return any(isinstance(one, Object) and is_part_of(target, one) for one in held for target in targets)
