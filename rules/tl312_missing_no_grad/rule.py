from collections.abc import Iterator

from trainlint.facts.ask.evidence import of_evaluation
from trainlint.facts.ask.flow import all_that_makes, is_among
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.model.events import Backward, Forward, ModeChange, ParametersRead, RequiresGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    if not _has_no_caller_without_gradients(training) or training.events(RequiresGrad):
        return
    used: list[Value] = [backward.loss for backward in training.events(Backward)]
    used += [event.target for event in training.events(ParametersRead)]
    makes_used = all_that_makes(used)
    runs = training.runs(ModeChange, Forward)
    for forward in training.events(Forward):
        module = forward.module
        if forward.records is not True or not forward.loops or not isinstance(module, Object):
            continue
        if has_parameters(module) is not True or is_among(forward.output, makes_used):
            continue
        modes = [training.mode_at(run, forward) for run in runs if forward in run]
        last = modes[-1] if modes else None
        if last is not None and all(one is not None and one.training is False for one in modes):
            yield Finding(
                forward.at,
                f"{module.title[:1].upper()}{module.title[1:]} runs inference without `torch.no_grad()`: autograd "
                "builds a graph for every batch, which costs memory and time, and no `backward()` uses it. "
                "Wrap the evaluation in `torch.no_grad()`.",
                (Because(last.at, "in evaluation mode since here"),),
                evidence=of_evaluation(training, forward),
                clues={"only_evaluated": not _trains(training, forward.at, used)},
            )


def _has_no_caller_without_gradients(training: Training) -> bool:
    """Whether nothing around the entry point can have switched gradients off: it runs `backward` itself."""
    is_trainer = any(one.loops and not one.by_framework for one in training.events(Backward))
    return training.entry == "program" or (training.entry == "function" and is_trainer)


def _trains(training: Training, at: Place | None, used: list[Value]) -> bool:
    """Whether the same place also runs in training, as in a function that does both."""
    makes_used = all_that_makes(used)
    return any(is_among(one.output, makes_used) for one in training.events(Forward) if one.at == at)
