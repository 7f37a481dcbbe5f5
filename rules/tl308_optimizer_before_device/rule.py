from collections.abc import Iterator

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.modules import Built, Moved
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="info", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    optimizers = [one.object for one in training.events(Built) if one.object.is_a(OPTIMIZER)]
    moves = training.events(Moved) if optimizers and training.events(OptimizerStep) else []
    if not any(_holds(optimizer, moved) for moved in moves for optimizer in optimizers):
        return
    early: dict[int, tuple[Moved, Built]] = {}
    fine: set[int] = set()
    for run in training.runs(Built, Moved, OptimizerStep):
        for position, event in enumerate(run):
            if not isinstance(event, Moved) or id(event) in fine:
                continue
            built = _built_before(run[:position], event)
            if built is None:
                fine.add(id(event))
            else:
                early.setdefault(id(event), (event, built))
    for number, (moved, built) in early.items():
        if number not in fine:
            kind = built.object.type.rpartition(".")[2]
            harm = (
                "Its state stays on the old device, so the first step raises."
                if kind == "Adagrad"
                else "Where the move replaces parameters, the optimizer keeps stepping the old ones."
            )
            yield Finding(
                moved.at,
                f"The model is moved after `{kind}` was created from its parameters. {harm} Move the model "
                "first.",
                (Because(built.at, "the optimizer is created here"),),
            )


def _built_before(before: list[Event], moved: Moved) -> Built | None:
    """The optimizer that was created since the last move of a module, and has not stepped yet."""
    built: Built | None = None
    for event in before:
        match event:
            case Built() if event.object.is_a(OPTIMIZER) and _holds(event.object, moved):
                built = built or event
            case Moved() if event.what is moved.what:
                return None
            case OptimizerStep():
                built = None
    return built


def _holds(optimizer: Object, moved: Moved) -> bool:
    """Whether an optimizer holds parameters of the module that is moved."""
    if not isinstance(moved.what, Object):
        return False
    held = [one for module in modules_held(optimizer)[0] for one in alternatives(module)]
    return any(isinstance(one, Object) and is_part_of(one, moved.what) for one in held)
