from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.layers import CONTAINERS
from trainlint.facts.ask.evidence import held
from trainlint.facts.ask.numbers import made_of_numbers
from trainlint.facts.ask.paths import Ways, ways
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.modules import ModuleChanged
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Op, Value
from trainlint.facts.seen.blind_spots import Numbered
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule


class Starved(NamedTuple):
    """The largest part of a model none of whose parameters got a gradient.

    Args:
        module: None where it is less than a module: a parameter beside others that did get one.
    """

    path: str
    module: ModuleSeen | None
    parameters: list[ParameterSeen]

    @property
    def name(self) -> str:
        if self.module is None:
            return self.parameters[0].name
        return self.path or self.module.type.removeprefix("torch.nn.")


@rule(Recorded, level="error", by="T")
def check(run: Recorded) -> Iterator[Finding]:
    judged = [one for one in held(run) if one.expected]
    yield from _cut_before_step(run, judged)
    if not any(not one.reached and one.gradient is None for one in judged):
        return
    found = ways(run)
    modules = {(one.number, one.path): one for one in run.facts(ModuleSeen)}
    for starved in _starved(judged, modules):
        at = _place(run, starved)
        if at is None or _is_copy(starved, judged):
            continue
        values = [one.value for one in starved.parameters if one.value is not None]
        cut = found.cut(values)
        if cut is not None and cut.at is not None:
            if cut.records is not False or not _is_frozen_on_purpose(run, starved, modules):
                yield _finding(
                    run, starved, at, _cut_by(cut), (Because(cut.at, "the graph is cut here"),), cut
                )
        elif not _is_routed(starved, judged, modules) and not _is_of_a_library(starved, modules):
            read_out = _read_out(run)
            why = _OF_NUMBERS if read_out else _unused(starved, modules, found)
            yield _finding(run, starved, at, why, read_out, None)


def _finding(
    run: Recorded, starved: Starved, at: Place, why: str, because: tuple[Because, ...], cut: Op | None
) -> Finding:
    count = len(starved.parameters)
    what = (
        f"No parameter of `{starved.name}`"
        if starved.module is not None
        else f"The parameter `{starved.name}` never"
    )
    backward = run.events(Backward)[0].at
    evidence: dict[str, object] = {
        "parameters without a gradient": count,
        "parameters in an optimizer": len(held(run)),
        "backward passes": run.ending.backwards,
    }
    if starved.module is not None:
        evidence["calls of the module"] = starved.module.calls
    if cut is not None:
        evidence["operation"] = cut.name
    return Finding(
        at,
        f"{what} gets a gradient, though {'they are' if count > 1 else 'it is'} in an optimizer: {why}",
        (*because, Because(backward, "this backward does not reach it")),
        level=None if cut is not None else "warning",
        subject=starved.path if starved.module is not None else starved.name,
        evidence=evidence,
    )


def _cut_before_step(run: Recorded, judged: list[ParameterSeen]) -> Iterator[Finding]:
    """Optimizers that step with no gradient at all, because the last loss does not reach their parameters, though
    another loss does. Where the last loss does reach one, its gradients were there, and were cleared before the step."""
    for optimizer in run.facts(OptimizerSeen):
        mine = [one for one in judged if optimizer.number in one.optimizers]
        if optimizer.idle < optimizer.parameters or not any(one.reached for one in mine):
            continue
        values = [one.value for one in mine if one.value is not None]
        before = _before_step(run, optimizer)
        backwards = [one for one in before if isinstance(one, Backward)]
        if not backwards or _was_cleared(before, values):
            continue
        last = backwards[-1]
        cut = Ways([last.loss]).cut(values)
        if cut is not None and cut.at is not None and optimizer.step_at is not None:
            yield Finding(
                optimizer.step_at,
                f"None of the {optimizer.parameters} parameters of this optimizer has a gradient when it "
                "steps: " + _cut_by(cut),
                (
                    Because(cut.at, "the graph is cut here"),
                    Because(last.at, "this backward does not reach them"),
                ),
                evidence={"parameters without a gradient": optimizer.idle, "operation": cut.name},
            )


def _before_step(run: Recorded, optimizer: OptimizerSeen) -> list[Event]:
    """What happened to gradients before an optimizer's first step."""
    events = run.events(Event)
    steps = (number for number, one in enumerate(events) if _is_step_of(one, optimizer))
    return [one for one in events[: next(steps, 0)] if isinstance(one, (Backward, ZeroGrad))]


def _was_cleared(before: list[Event], values: list[Value]) -> bool:
    """Whether the step has no gradients because they were cleared after the last backward, which nothing has cut."""
    backwards = [one for one in before if isinstance(one, Backward)]
    if not isinstance(before[-1], ZeroGrad):
        backwards = backwards[-1:]  # and by other means: `p.grad = None`
    return any(Ways([one.loss]).reaches(values) for one in backwards)


def _is_step_of(event: Event, optimizer: OptimizerSeen) -> bool:
    return isinstance(event, OptimizerStep) and event.at == optimizer.step_at


def _cut_by(cut: Op) -> str:
    if cut.records is False:
        return (
            f"`{cut.text}` runs with gradients disabled, so the initial values never change. Move it out of "
            "`no_grad`, or do not pass these parameters to the optimizer."
        )
    return (
        f"`{cut.text}` cuts the graph on the way to the loss, so the initial values never change. Keep the "
        "graph there, or do not pass these parameters to the optimizer."
    )


_OF_NUMBERS = (
    "the loss is made of plain numbers, from which no gradient comes back. Make it of the tensors, not of what "
    "`item()` and the like have read out of them."
)


def _read_out(run: Recorded) -> tuple[Because, ...]:
    """Where tensors with gradients became plain numbers, if every loss is made of numbers and no parameter is trained."""
    is_trained = any(one.reached for one in run.facts(ParameterSeen))
    if is_trained or not all(made_of_numbers(run, one.loss) for one in run.events(Backward)):
        return ()
    places = dict.fromkeys(one.at for one in run.facts(Numbered) if not one.detached)
    return tuple(Because(at, "a tensor with a gradient becomes a plain number here") for at in places)


def _unused(starved: Starved, modules: dict[tuple[int, str], ModuleSeen], found: Ways) -> str:
    module = starved.module
    if module is not None and not any(one.training is not None for one in _inside(module, modules)):
        return "it was never called. Call it in `forward`, or remove it."
    values = [one.value for one in starved.parameters if one.value is not None]
    if found.between(values):
        return (
            "its output reaches the loss only through operations that are not differentiable. Look for "
            "indices and comparisons."
        )
    return "no loss depends on it. Use it in `forward`, or remove it."


def _starved(judged: list[ParameterSeen], modules: dict[tuple[int, str], ModuleSeen]) -> Iterator[Starved]:
    """The parts of the models that got no gradient, each as large as can be."""
    groups: dict[tuple[int, str], list[ParameterSeen]] = {}
    for one in judged:
        if one.reached or one.gradient is not None:
            continue
        path, whole = one.module, None
        while _all_starved(judged, one.model, path):
            whole = path
            if not path:
                break
            path = path.rpartition(".")[0]
        if whole is None:
            yield Starved(one.module, None, [one])
        else:
            groups.setdefault((one.model, whole), []).append(one)
    for (model, path), parameters in groups.items():
        yield Starved(path, modules.get((model, path)), parameters)


def _all_starved(judged: list[ParameterSeen], model: int, path: str) -> bool:
    return not any(
        (one.reached or one.gradient is not None) and one.model == model and _is_in(one.module, path)
        for one in judged
    )


def _is_in(path: str, outer: str) -> bool:
    return not outer or path == outer or path.startswith(f"{outer}.")


def _inside(module: ModuleSeen, modules: dict[tuple[int, str], ModuleSeen]) -> Iterator[ModuleSeen]:
    return (
        one for (model, path), one in modules.items() if model == module.number and _is_in(path, module.path)
    )


def _place(run: Recorded, starved: Starved) -> Place | None:
    if starved.module is not None and starved.module.at is not None:
        return starved.module.at
    if starved.parameters[0].at is not None:
        return starved.parameters[0].at
    number = starved.parameters[0].optimizers[0]
    return next((one.at or one.step_at for one in run.facts(OptimizerSeen) if one.number == number), None)


def _is_copy(starved: Starved, judged: list[ParameterSeen]) -> bool:
    """Whether these parameters started equal to trained ones: a target network is updated in another way."""
    trained = {(one.shape, one.start) for one in judged if one.reached and one.start is not None}
    random = [one for one in starved.parameters if one.start is not None and one.start.std > 0]
    return bool(random) and all((one.shape, one.start) in trained for one in random)


def _is_frozen_on_purpose(
    run: Recorded, starved: Starved, modules: dict[tuple[int, str], ModuleSeen]
) -> bool:
    """Whether what runs under `no_grad` looks like a pretrained part: loaded, in evaluation mode, or from a library."""
    if run.events(ModuleChanged) or starved.module is None:
        return True
    inside = list(_inside(starved.module, modules))
    return any(one.training is False for one in inside) or any(_is_library(one.type) for one in inside)


def _is_routed(
    starved: Starved, judged: list[ParameterSeen], modules: dict[tuple[int, str], ModuleSeen]
) -> bool:
    """Whether it is one of several in a list of which others were called: which ones may depend on the batch."""
    model, path = starved.parameters[0].model, starved.path
    while path:
        path = path.rpartition(".")[0]
        holder = modules.get((model, path))
        if holder is not None and holder.type in CONTAINERS and holder.type != "torch.nn.Sequential":
            return not _all_starved(judged, model, path)
    return False


def _is_of_a_library(starved: Starved, modules: dict[tuple[int, str], ModuleSeen]) -> bool:
    """Whether it is a part of a library's model, whose outputs need not all be used."""
    model, path = starved.parameters[0].model, starved.path
    paths = [path] if starved.module is None else []
    while path:
        path = path.rpartition(".")[0]
        paths.append(path)
    return any((one := modules.get((model, outer))) is not None and _is_library(one.type) for outer in paths)


def _is_library(kind: str) -> bool:
    return "." in kind and not kind.startswith("torch.nn.")
