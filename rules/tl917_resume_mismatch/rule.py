import math
from collections.abc import Iterator

from trainlint.facts.seen.resumes import Continued, Reloaded, Resumed
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Continued, level="error", by="T", steps=40)
def check(continued: Continued) -> Iterator[Finding]:
    if isinstance(continued, Resumed):
        yield from _resumed(continued)
    elif isinstance(continued, Reloaded):
        yield _reloaded(continued)


def _reloaded(tried: Reloaded) -> Finding:
    if tried.keeps:
        return Finding(
            tried.at,
            f"`step()` of {tried.model} goes on from `{tried.keeps}`, which its `state_dict()` does not hold: after saving and "
            f"loading, the next step moves weights by up to {tried.change:.3g} elsewhere than that of the run that goes on. "
            "Keep it in `self.state`, or in the param groups.",
            evidence={
                "largest difference of a weight": tried.change,
                "largest move of a weight": tried.moved,
            },
        )
    before, after = tried.losses
    return Finding(
        tried.at,
        f"A step uses something of {tried.model} that its `state_dict()` does not hold: after saving, loading and one "
        f"step, weights differ by up to {tried.change:.3g} from those of the run that goes on. Register tensors as "
        "buffers, and save counters with the checkpoint.",
        evidence={
            "largest difference of a weight": tried.change,
            "largest move of a weight": tried.moved,
            "loss of the run that goes on": before,
            "loss after loading": after,
        },
    )


def _resumed(resumed: Resumed) -> Iterator[Finding]:
    name = resumed.type.rpartition(".")[2]
    if resumed.steps < 1:
        return
    if resumed.kept is None and resumed.stepped_by == resumed.type:
        where = resumed.stepped_by_at
        yield Finding(
            resumed.at,
            f"The state of {resumed.steps:g} steps is loaded into an {name} that never steps: another one, "
            "without this state, steps the same parameters, so the next step differs from that of an "
            "uninterrupted run. Load the state into the optimizer that you step, after it is created.",
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
            f"The state of {resumed.steps:g} steps is loaded into this {name}, but is lost before it steps: "
            "its parameters were replaced, or its state was cleared. Load the state once the model and the "
            "optimizer are complete.",
            evidence={
                "steps in the state": resumed.steps,
                "parameters with state": resumed.entries,
                "state in use": 0,
            },
        )
    elif resumed.kept and resumed.scheduler is not None and _differ(resumed):
        yield Finding(
            resumed.scheduler,
            f"This scheduler starts from the beginning, and sets the learning rate to {_told(resumed.now)}, "
            f"though the loaded state has {_told(resumed.rates)}. Load the state of the scheduler too, after "
            "it is created.",
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
