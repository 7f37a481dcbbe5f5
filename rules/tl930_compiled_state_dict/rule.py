from collections.abc import Iterator

from trainlint.facts.api.noted import SAVES
from trainlint.facts.api.wrappers import STRIPS, STRIPS_PREFIX
from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import StateLoaded, StateTaken
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, alternatives, constant
from trainlint.facts.seen.saved import Saved
from trainlint.finding import Because, Elsewhere, Finding, Open
from trainlint.rule import rule

_INNER = {"_orig_mod.": "_orig_mod", "module.": "module"}
"""The attribute under which each wrapper keeps its module."""

_WRAPS_FIRST = r"|^[ \t]*(\w[\w.]*)[ \t]*=[ \t]*(?:\w+\.)*(?:%s)\((?:(?!^[ \t]*(?:def|class)[ \t])[\s\S]){1,2000}?^[ \t]*\1\.load_state_dict\("
"""How a model is wrapped and then loaded, in the same function."""

_TAKES_OFF = {
    "_orig_mod.": Elsewhere(
        r"[\"']_orig_mod" + _WRAPS_FIRST % "compile", "this project takes the prefix off, or loads with it"
    ),
    "module.": Elsewhere(
        r"[\"']module\.[\"']|\[7:\]" + _WRAPS_FIRST % "DataParallel|DistributedDataParallel|DDP",
        "this project takes the prefix off, or loads with it",
    ),
}
_READS = ("torch.load", "getitem", "get")
"""Operations after which the keys of a state still are what was saved."""


@rule(Training, level="warning", confidence="likely")
def check(training: Training) -> Iterator[Finding | Open]:
    if isinstance(training, Recorded):
        yield from _seen(training)
        return
    calls = training.events(Called)
    saves = [one for one in calls if one.name in SAVES and one.args]
    knows = any(one.name in STRIPS or one.name == STRIPS_PREFIX for one in calls)
    every = training.events(StateTaken)
    plain = {one.output.owner for one in every if not one.prefix}
    taken = {one.output.uid: one for one in every if one.prefix and one.output.owner not in plain}
    if not taken or not saves or knows or _unwraps(saves):
        return
    bare = {one.output.uid for one in every if not one.prefix}
    for save in saves:
        held = list(reached([save.args[0]]))
        if any(value.uid in bare for value in held):
            continue  # a setting chooses between the state of the wrapper and that of what is in it
        for value in held:
            state = taken.get(value.uid)
            if state is None or _comes_back(training, state):
                continue
            inner = _INNER[state.prefix]
            yield Finding(
                save.at,
                f"All keys of this state begin with `{state.prefix}`, the name under which the wrapper keeps its module, "
                f"so it cannot be loaded into the plain module. Save `model.{inner}.state_dict()`, or that of the "
                "module from before it was wrapped.",
                (Because(state.wrapped_at, "the module is wrapped here"),)
                if state.wrapped_at is not None
                else (),
                unless=_TAKES_OFF[state.prefix],
            )


def _unwraps(saves: list[Called]) -> bool:
    """Whether what is saved may be the state of a module inside of a wrapper: then the program knows of it."""
    return any(
        isinstance(one, Op) and one.name == "getattr" and constant(one.options.get("name")) in _INNER.values()
        for save in saves
        for one in reached([save.args[0]])
    )


def _comes_back(training: Training, taken: StateTaken) -> bool:
    """Whether a state is loaded with the prefix, or by code that may take it off."""
    for loaded in training.events(StateLoaded):
        if all(one is not taken.output.owner for one in alternatives(loaded.target)):
            continue
        if loaded.prefix or constant(loaded.strict) is False:
            return True
        if not all(isinstance(one, Op) and one.name in _READS for one in alternatives(loaded.state)):
            return True
    return False


def _seen(run: Recorded) -> Iterator[Finding | Open]:
    found = {one.at: one for one in run.facts(Saved)}
    for save in run.events(Called):
        if save.name == "torch.save" and save.at not in found:
            yield Open(save.at, "which keys the saved weights have")
    for one in found.values():
        yield Finding(
            one.at,
            f"{one.keys} keys of what is saved here carry `_orig_mod.`, as `{one.example}` does: they cannot be loaded into "
            "a module that is not compiled. Save the state of the module from before it was compiled.",
            evidence={"keys with the prefix": one.keys, "example": one.example},
        )
