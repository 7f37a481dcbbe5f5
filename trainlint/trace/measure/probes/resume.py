"""Is the step after saving and loading the step of the run that goes on?"""

from __future__ import annotations

import copy
import io

import torch

from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.probes.taken import SAME, far, stepped
from trainlint.trace.measure.replay import Impossible, Replay

NAME = "resume"


def resume(step: Step) -> Tried:
    """Save what runs, load it into the models as they were before their first call, and take one step with both."""
    taped, optimizer, begun = step.taped, step.optimizer, step.recorder.tape.begun
    before: dict[int, torch.nn.Module] = {}
    for _, one in taped.calls:
        if isinstance(one.function, torch.nn.Module):
            known = begun.get(id(one.function))
            if known is None or known[1] is None:
                raise Impossible("no copy of the model could be made at its first call")
            before[id(one.function)] = known[1]
    runs, again = Replay(taped, optimizer), Replay(taped, optimizer)
    loaded = Replay(taped, optimizer, before)
    _load(runs, loaded)
    started = [one.detach().clone() for one in runs.parameters]
    losses = [stepped(one) for one in (runs, again, loaded)]
    moved = max(far(runs.parameters, started), 1e-12)
    noise, change = far(runs.parameters, again.parameters), far(runs.parameters, loaded.parameters)
    numbers = {
        "loss of the run that goes on": losses[0],
        "loss after loading": losses[2],
        "difference of the weights": change,
        "largest move of a weight": moved,
    }
    said = f"after the next step, weights differ by up to {change:.3g}, where that step moves them by up to {moved:.3g}"
    if noise > SAME * moved:
        raise Impossible("the same step from the same seed gives something else")
    if change <= SAME * moved:
        return Tried(NAME, "passed", said, step.at, numbers)
    lost = ": something that the step uses is in no `state_dict()`, such as a tensor that is no buffer, or a counter"
    return Tried(NAME, "failed", said + lost, step.at, numbers)


def _load(saved: Replay, fresh: Replay) -> None:
    """What goes through a file: the state of each module, and of the optimizer."""
    assert saved.optimizer is not None and fresh.optimizer is not None
    state = [one.state_dict() for one in saved.modules], saved.optimizer.state_dict()
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    modules, moments = torch.load(file, weights_only=False)
    fresh.optimizer.state.clear()
    try:
        for one, held in zip(fresh.modules, modules, strict=True):
            one.load_state_dict(held)
        fresh.optimizer.load_state_dict(copy.deepcopy(moments))
    except (RuntimeError, ValueError, KeyError) as error:
        said = str(error).strip().splitlines()[0]
        raise Impossible(f"the state cannot be loaded into the model as it was at first: {said}") from error
