from collections.abc import Iterator

from trainlint.facts.events import Backward, Forward, ModeChange, ParametersRead, RequiresGrad
from trainlint.facts.evidence import of_evaluation
from trainlint.facts.flow import has_parameters, is_made_of
from trainlint.facts.training import Training
from trainlint.facts.values import Object, Value
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    if training.entry != "program" or training.events(RequiresGrad):
        return
    used: list[Value] = [backward.loss for backward in training.events(Backward)]
    used += [event.target for event in training.events(ParametersRead)]
    runs = training.runs(ModeChange, Forward)
    for forward in training.events(Forward):
        module = forward.module
        if forward.records is not True or not forward.loops or not isinstance(module, Object):
            continue
        if has_parameters(module) is not True or any(is_made_of(one, forward.output) for one in used):
            continue
        modes = [training.mode_at(run, forward) for run in runs if forward in run]
        last = modes[-1] if modes else None
        if last is not None and all(one is not None and one.training is False for one in modes):
            yield Finding(
                forward.at,
                f"`{module.type.removeprefix('torch.')}` is evaluated while autograd records: every batch pays memory "
                "and time for gradients that nobody uses. Put it under `torch.no_grad()`.",
                (Because(last.at, "in evaluation since here"),),
                evidence=of_evaluation(training, forward),
            )
