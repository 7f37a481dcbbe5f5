from collections.abc import Iterator

from trainlint.facts.events import Called, OptimizerStep, StateLoaded, StateTaken
from trainlint.facts.training import Training
from trainlint.facts.values import Op, Table, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    taken = {one.output.uid: one for one in training.events(StateTaken)}
    if not training.events(StateLoaded):
        for one in taken.values():
            training.leave_open(one.at)
    for event in training.events(StateLoaded):
        owners = {one.uid for one in alternatives(event.target)}
        for state in _references(event.state):
            if state.owner is not None and state.owner.uid in owners:
                yield from _used(training, taken.get(state.uid), event, "restored")
    for call in training.events(Called):
        if call.name == "torch.save" and call.args:
            for state in _references(call.args[0]):
                yield from _used(training, taken.get(state.uid), call, "saved")


def _used(
    training: Training, taken: StateTaken | None, used: StateLoaded | Called, how: str
) -> Iterator[Finding]:
    """A state is used after a loop that took it and then continues to step the same model."""
    if taken is None or taken.output.owner is None:
        return
    is_now_and_then = not set(taken.guards) <= set(used.guards)
    if any(
        loop not in used.loops
        and loop not in taken.output.owner.loops
        and any(
            is_now_and_then or training.is_after(step, taken) for step in training.inside(loop, OptimizerStep)
        )
        for loop in taken.loops
    ):
        yield Finding(
            taken.at,
            "`state_dict()` returns references to the weights, not a copy: later steps change them too, so "
            f"the last weights are {how} later, not these. Keep `copy.deepcopy(model.state_dict())`.",
            (Because(used.at, f"{how} here"),),
        )


def _references(value: Value, depth: int = 0) -> Iterator[Op]:
    """The calls of `state_dict` whose tensors a value shares."""
    for one in alternatives(value):
        if isinstance(one, Op) and one.name == "state_dict" and one.owner is not None:
            yield one
        elif isinstance(one, Op) and one.name == "copy" and constant(one.options.get("deep")) is not True:
            yield from _references(one.inputs[0], depth)
        elif isinstance(one, Table) and depth < 2:
            for inner in one.entries.values():
                yield from _references(inner, depth + 1)
