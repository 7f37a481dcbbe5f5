import math
from collections.abc import Iterator

from trainlint.facts.seen.resumes import Resumed
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Resumed, level="error", by="T", steps=40)
def check(resumed: Resumed) -> Iterator[Finding]:
    name = resumed.type.rpartition(".")[2]
    if resumed.steps < 1:
        return
    if resumed.kept is None and resumed.stepped_by == resumed.type:
        where = resumed.stepped_by_at
        yield Finding(
            resumed.at,
            f"The state of {resumed.steps:g} steps is loaded into an {name} that never steps: another one steps the same "
            "parameters and starts anew, so the next step is not the one that an uninterrupted run takes. Load into the "
            "optimizer that you step, after it is built.",
            (Because(where, "this one steps"),) if where is not None else (),
            evidence={
                "steps in the state": resumed.steps,
                "parameters with state": resumed.entries,
                "state in use": 0,
            },
        )
    elif resumed.kept == 0:
        yield Finding(
            resumed.at,
            f"The state of {resumed.steps:g} steps is loaded into this {name}, and is gone when it steps: its parameters "
            "were replaced, or its state was cleared. Load the state when the model and the optimizer are complete.",
            evidence={
                "steps in the state": resumed.steps,
                "parameters with state": resumed.entries,
                "state in use": 0,
            },
        )
    elif resumed.kept and resumed.scheduler is not None and _differ(resumed):
        yield Finding(
            resumed.scheduler,
            f"This scheduler starts anew, and sets the learning rate to {_told(resumed.now)}, though the state that was "
            f"loaded goes on with {_told(resumed.rates)}. Load the scheduler's state too, after it is built.",
            (Because(resumed.at, f"the optimizer's state of {resumed.steps:g} steps is loaded here"),),
            level="warning",
            evidence={
                "learning rate, as loaded": _told(resumed.rates),
                "learning rate of the first step": _told(resumed.now),
                "steps in the state": resumed.steps,
            },
        )


def _differ(resumed: Resumed) -> bool:
    pairs = zip(resumed.rates, resumed.now, strict=False)
    return any(not math.isclose(before, now, rel_tol=1e-3) for before, now in pairs)


def _told(rates: tuple[float, ...]) -> str:
    return " and ".join(f"{rate:g}" for rate in dict.fromkeys(rates))
