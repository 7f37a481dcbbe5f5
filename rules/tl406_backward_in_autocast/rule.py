from collections.abc import Iterator

from trainlint.facts.ask.precision import castings
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import compatible, constant
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding | Open]:
    said: set[Place] = set()
    for backward in training.events(Backward):
        for cast in castings(backward.autocast):
            if constant(cast.region.options.get("available")) is False:
                yield Open(backward.at, "what autocast does on a machine that has this device")
            elif backward.at not in said and compatible(cast.guards, backward.guards):
                said.add(backward.at)
                where = cast.region.at
                yield Finding(
                    backward.at,
                    "This `backward()` runs inside an autocast region. Each backward operation already has "
                    "the dtype of its forward operation, and Python code that runs here, such as a hook, a "
                    "custom function or a checkpointed forward, is autocast as well. End the region after "
                    "the loss.",
                    (Because(where, "autocast starts here"),) if where is not None else (),
                    evidence={"autocast": cast.dtype or "on"} if isinstance(training, Recorded) else {},
                )
