from collections.abc import Iterator

from trainlint.facts.ask.clues import loaded_as_state
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import ModeChange, StateTaken
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Guards, Op, constant
from trainlint.finding import Elsewhere, Finding, Level, Place, Versions
from trainlint.rule import rule

from .whose import is_beside, is_chosen, is_from, is_of_others, is_own_file, is_same_path

_WITHOUT_SAFE_DEFAULT = Versions(since=(1, 13), before=(2, 6))
"""Versions that know `weights_only` and unpickle anything without it."""

_FROM_WEB = frozenset(("torch.hub.load_state_dict_from_url", "torch.utils.model_zoo.load_url"))
_HANDS_ON = frozenset(
    "getitem getattr iterate items values state_dict to cuda cpu float double half bfloat16 train eval".split()
)
"""Operations that give a module that they are given, moved or switched to a mode, a part of it, or its state."""

_EXECUTES = (
    "`weights_only=False` executes any code in the file: a checkpoint from someone else can do anything with your "
    "rights."
)
_WHOLE = (
    "This file holds a whole module, which `weights_only=True` refuses: save the module's `state_dict()` in its place, "
    "and load that with `weights_only=True`."
)
_WRITES_OWN = Elsewhere(
    r"\btorch\.save\(|\bModelCheckpoint\(|\.save_(?:checkpoint|model|pretrained|state)\(",
    "this project writes such files itself",
)
_OF_TENSORS = "Pass `weights_only=True`."
_OF_ANYTHING = (
    "Pass `weights_only=True`. If the file holds more than tensors and plain containers, such as a config or a "
    "vocabulary, this alone is refused: save these in another format, such as JSON, or allow their classes with "
    "`torch.serialization.add_safe_globals`, which torch has since 2.4."
)


@rule(
    Training,
    level="warning",
    confidence="likely",
    refutable=False,
    by="S",
    words="load",
    explained_by=r"weights_only|\btrust|\b(?:our|its|my|we) (?:own|wrote|write|save)|\bown (?:file|checkpoint)",
)
def check(training: Training) -> Iterator[Finding]:
    calls = training.events(Called)
    states = loaded_as_state(training)
    modules = _used_as_modules(training)
    written = [one.argument(1, "f") for one in calls if one.name == "torch.save"]
    for call in calls:
        file = call.argument(0, "f")
        if call.name in _FROM_WEB and _is_unsafe(call):
            yield Finding(call.at, f"{_EXECUTES} {_OF_TENSORS}")
            continue
        if call.name != "torch.load" or file is None or training.is_in_test(call.at):
            continue
        if any(
            is_same_path(file, one) or is_from(one, file) or is_beside(file, one)
            for one in written
            if one is not None
        ):
            continue
        if is_own_file(file):
            continue
        if _is_second_try(call, calls):
            continue
        level: Level | None = None if is_chosen(file) else "info"
        unless = None if is_of_others(file) else _WRITES_OWN
        clues = {"is_state": call.at in states, "is_module": call.at in modules}
        advice = _WHOLE if call.at in modules else _OF_TENSORS if call.at in states else _OF_ANYTHING
        if "weights_only" not in call.options and not call.is_open:
            yield Finding(
                call.at,
                "Before torch 2.6, which this project supports, `torch.load` without `weights_only` executes "
                f"any code in the file: a checkpoint from someone else can do anything with your rights. {advice}",
                level=level,
                torch=_WITHOUT_SAFE_DEFAULT,
                clues=clues,
                unless=unless,
            )
        elif _is_unsafe(call):
            yield Finding(call.at, f"{_EXECUTES} {advice}", level=level, clues=clues, unless=unless)


def _used_as_modules(training: Training) -> set[Place]:
    """Where whole modules are loaded: what the file holds is switched to a mode, or gives its state. A trainer that is given
    a dataset is made of it, and is no part of the file."""
    used = [made_as(one.module) for one in training.events(ModeChange)]
    used += [one.output for one in training.events(StateTaken)]
    return {
        one.at
        for value in used
        for one in made_of(value, _makes_another)
        if isinstance(one, Op) and one.name == "load" and one.at is not None
    }


def _makes_another(op: Op) -> bool:
    """Whether an operation gives something else than what it is given, or than a part of that."""
    return op.name not in _HANDS_ON


def _is_unsafe(load: Called) -> bool:
    return constant(load.options.get("weights_only")) is False


def _is_second_try(load: Called, calls: list[Called]) -> bool:
    """Whether an exception was caught before, in a file that also loads safely, or that names `weights_only` where torch has it."""
    return _is_in_handler(load.guards) and any(
        one.name == load.name and one.at.path == load.at.path and _is_safer(one, load) for one in calls
    )


def _is_safer(one: Called, other: Called) -> bool:
    is_for_old = "weights_only" in one.options and "weights_only" not in other.options
    return (
        is_for_old
        or constant(one.options.get("weights_only")) is True
        or (_is_unsafe(other) and not _is_unsafe(one))
    )


def _is_in_handler(guards: Guards) -> bool:
    """Whether an event only happens after an exception was caught."""
    return any(
        isinstance(condition, tuple) and condition[:1] in (("handler",), ("import fails",)) and outcome
        for condition, outcome in guards
    )
