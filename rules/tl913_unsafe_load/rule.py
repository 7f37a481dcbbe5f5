import re
from collections.abc import Iterator

from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.clues import loaded_as_state
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import ModeChange, StateTaken
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Guards,
    Items,
    Op,
    Unknown,
    Value,
    Written,
    alternatives,
    constant,
)
from trainlint.finding import Finding, Level, Place, Versions
from trainlint.rule import rule

_WITHOUT_SAFE_DEFAULT = Versions(since=(1, 13), before=(2, 6))
"""Versions that know `weights_only` and unpickle anything without it."""

_FROM_WEB = frozenset(("torch.hub.load_state_dict_from_url", "torch.utils.model_zoo.load_url"))
_EXECUTES = (
    "`weights_only=False` executes any code in the file: a checkpoint from someone else can do anything with your "
    "rights."
)
_WHOLE = (
    "This file holds a whole module, which `weights_only=True` refuses: save the module's `state_dict()` in its place, "
    "and load that with `weights_only=True`."
)
_OF_TENSORS = "Pass `weights_only=True`."
_OF_ANYTHING = (
    "Pass `weights_only=True`. If the file holds more than tensors and plain containers, such as a config or a "
    "vocabulary, this alone is refused: save these in another format, such as JSON, or allow their classes with "
    "`torch.serialization.add_safe_globals`, which torch has since 2.4."
)

_JOINS = ("/", "+", "os.path.join", "getattr")
"""Operations that build the same path from the same parts."""

_INTO = ("/", "os.path.join")
_SEARCHES = (".glob(…)", ".rglob(…)", ".iterdir(…)")
_LISTS = frozenset(("glob.glob", "glob.iglob", "os.listdir", "os.scandir"))
_PASSES = frozenset(
    "iterate getitem sorted builtins.sorted list builtins.list call max builtins.max min builtins.min "
    "next builtins.next".split()
)
"""What a name of a file goes through on its way from the search for files to where one is read."""

_BUILDS = frozenset(
    (
        *_JOINS,
        *(
            "%",
            "call",
            "iterate",
            "range",
            "builtins.range",
            "str",
            "open",
            "builtins.str",
            "builtins.open",
            "os.fspath",
            "os.getcwd",
        ),
        *(
            "pathlib.Path",
            "pathlib.Path.cwd",
            "os.path.abspath",
            "os.path.realpath",
            "os.path.dirname",
            "os.path.normpath",
        ),
    )
)
"""Operations that make a path of the parts that are given, and of where the program lies or runs."""

_AS_PATHS = frozenset(
    "pathlib.Path str builtins.str os.fspath os.path.abspath os.path.realpath os.path.normpath "
    "os.path.expanduser".split()
)
"""Operations that only write the same path in another way."""

_FILLED_IN = (".format(…)",)

_OWN = re.compile(r"cache", re.IGNORECASE)
"""What stands in the names of files that a program writes for itself."""

_FROM_OTHERS = re.compile(r"pre_?train|download|imagenet|://|-[0-9a-f]{8}\.pth", re.IGNORECASE)
"""What stands in the names of files that somebody else has made."""


@rule(Training, level="warning", confidence="likely", refutable=False, by="S", words="load")
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
        if any(_same(file, one) or _is_beside(file, one) for one in written if one is not None):
            continue
        if _is_own_file(file):
            continue
        if _is_second_try(call, calls):
            continue
        level: Level | None = None if _is_chosen(file) else "info"
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
            )
        elif _is_unsafe(call):
            yield Finding(call.at, f"{_EXECUTES} {advice}", level=level, clues=clues)


def _used_as_modules(training: Training) -> set[Place]:
    """Where whole modules are loaded: what the file holds is switched to a mode, or gives its state."""
    used = [made_as(one.module) for one in training.events(ModeChange)]
    used += [one.output for one in training.events(StateTaken)]
    return {
        one.at
        for value in used
        for one in made_of(value)
        if isinstance(one, Op) and one.name == "load" and one.at is not None
    }


def _is_unsafe(load: Called) -> bool:
    return constant(load.options.get("weights_only")) is False


def _is_second_try(load: Called, calls: list[Called]) -> bool:
    """Whether an exception was caught before, in a file that also loads safely."""
    return _is_in_handler(load.guards) and any(
        one.name == load.name and one.at.path == load.at.path and _is_safer(one, load) for one in calls
    )


def _is_safer(one: Called, other: Called) -> bool:
    return constant(one.options.get("weights_only")) is True or (_is_unsafe(other) and not _is_unsafe(one))


@question(start=False, unknown=False)
def _same(one: Value, other: Value) -> bool:
    """Whether two paths are certainly one: the same value, or the same text."""
    first, second = list(alternatives(one)), list(alternatives(other))
    if {value.uid for value in first} & {value.uid for value in second}:
        return True
    if isinstance(one, Op) and isinstance(other, Op) and one.name in _JOINS and one.name == other.name:
        return len(one.inputs) == len(other.inputs) and all(map(_same, one.inputs, other.inputs))
    return constant(one) is not None and constant(one) == constant(other)


def _is_beside(file: Value, written: Value) -> bool:
    """Whether a file is one of all that are found in the folder which the program writes another one into."""
    folder = _found_in(file)
    return folder is not None and any(
        isinstance(one, Op) and one.name in _INTO and bool(one.inputs) and _same(folder, one.inputs[0])
        for one in alternatives(written)
    )


def _found_in(file: Value) -> Value | None:
    """The folder that is searched for files such as this one."""
    searched = [one for one in _passed_on(file) if one.text.endswith(_SEARCHES) and one.inputs]
    return searched[0].inputs[0] if searched else None


def _is_found(file: Value) -> bool:
    return any(one.name in _LISTS or one.text.endswith(_SEARCHES) for one in _passed_on(file))


def _passed_on(file: Value) -> list[Op]:
    """What hands the name of a file on, from where it is read back to a search for files."""
    found = reached(
        [file], lambda one: one.inputs[:1] if isinstance(one, Op) and one.name in _PASSES else (), 20
    )
    return [one for one in found if isinstance(one, Op)]


@question(start=False, unknown=True)
def _is_chosen(file: Value) -> bool:
    """Whether somebody outside of the program may choose a file, or the folder that it lies in: by an option, a setting, or
    as an argument of a caller. Of what the program finds or names itself, nearly all is its own."""
    match file:
        case Constant():
            return file.is_default or _is_from_others(file)
        case Written():
            return _is_from_others(file)
        case Choice() | Carried() | Items():
            return any(map(_is_chosen, file.parts()))
        case Op() if file.name in _AS_PATHS and file.inputs:
            return _is_chosen(file.inputs[0])
        case Op() if file.name in _INTO or file.name == "+":
            return any(map(_is_chosen, file.inputs)) and not any(map(_is_made_up, file.inputs))
        case Op():
            return not _is_made_up(file)
        case Unknown(text=text):
            return not _OWN.search(text)
    return True


def _is_made_up(part: Value) -> bool:
    """Whether the program fills this part of a path in, or finds it by a search."""
    while isinstance(part, Op) and part.name in _AS_PATHS and part.inputs:
        part = part.inputs[0]
    if isinstance(part, Written):
        return not _is_from_others(part)
    if isinstance(part, Unknown):
        return bool(_OWN.search(part.text))
    if not isinstance(part, Op):
        return False
    words = f"{part.text} {constant(part.options.get('name'))}"
    return part.text.endswith(_FILLED_IN) or bool(_OWN.search(words)) or _is_found(part)


def _is_own_file(file: Value) -> bool:
    """Whether a path stands in the program, all of it: of files at such places nearly all are those that the project has
    written itself, unless their names say otherwise."""
    return _is_written_out(file) and not _is_from_others(file)


def _is_from_others(file: Value) -> bool:
    return any(isinstance(one, Constant) and _FROM_OTHERS.search(str(one.value)) for one in reached([file]))


@question(start=True, unknown=False)
def _is_written_out(path: Value) -> bool:
    match path:
        case Constant():
            return not path.is_default
        case Unknown(text="__file__"):
            return True
        case Written():
            return all(map(_is_written_out, path.fields))
        case Op() if path.name in _BUILDS:
            return all(map(_is_written_out, path.parts()))
        case Choice() | Carried() | Items():
            return all(map(_is_written_out, path.parts()))
    return False


def _is_in_handler(guards: Guards) -> bool:
    """Whether an event only happens after an exception was caught."""
    return any(
        isinstance(condition, tuple) and condition[:1] in (("handler",), ("import fails",)) and outcome
        for condition, outcome in guards
    )
