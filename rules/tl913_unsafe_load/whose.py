"""Whose file it is that a path leads to: the program's own, or one that somebody else may choose."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainlint.facts.ask.asking import question, reached
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Named,
    Op,
    Unknown,
    Value,
    Written,
    alternatives,
    constant,
)

_JOINS = ("/", "+", "os.path.join", "getattr", "getitem")
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

_OPENS = ("open", "builtins.open")
_FILLED_IN = (".format(…)",)

_OWN = re.compile(r"cache", re.IGNORECASE)
"""What stands in the names of files that a program writes for itself."""

_FROM_OTHERS = re.compile(r"pre_?train|download|imagenet|://|-[0-9a-f]{8}\.pth", re.IGNORECASE)
"""What stands in the names of files that somebody else has made."""


def is_same_path(one: Value, other: Value) -> bool:
    """Whether two paths are certainly one: the same value, or the same text."""
    return _is_alike(_path_of(one), _path_of(other))


@question(start=False, unknown=False)
def _is_alike(one: Value, other: Value) -> bool:
    first, second = list(alternatives(one)), list(alternatives(other))
    if {value.uid for value in first} & {value.uid for value in second}:
        return True
    match one, other:
        case Written(), Written():
            return bool(one.fields) and _are_alike(one.fields, other.fields)
        case Named(), Named():
            return one.name == other.name
        case Op(), Op() if one.name == other.name and (one.name in _JOINS or one.text.endswith("(…)")):
            return _are_alike(one.inputs, other.inputs) and _are_alike(
                (*one.options.values(),), (*other.options.values(),)
            )
    return constant(one) is not None and constant(one) == constant(other)


def _are_alike(some: Sequence[Value], others: Sequence[Value]) -> bool:
    return len(some) == len(others) and all(map(_is_alike, some, others))


def _path_of(file: Value) -> Value:
    """The path itself, whether it is opened first, or written in another way."""
    while isinstance(file, Op) and file.inputs and (file.name in _AS_PATHS or file.name in _OPENS):
        file = file.inputs[0]
    return file


def is_from(written: Value, file: Value) -> bool:
    """Whether the name of a file that is written is made of that of another one: `path + ".tmp"`, which then takes its place."""
    path = _path_of(file)
    return not isinstance(path, Constant) and any(
        _is_alike(part, path) for one in alternatives(_path_of(written)) for part in one.parts()
    )


def is_beside(file: Value, written: Value) -> bool:
    """Whether a file is one of all that are found in the folder which the program writes another one into."""
    folder = _found_in(file)
    return folder is not None and any(
        isinstance(one, Op) and one.name in _INTO and bool(one.inputs) and is_same_path(folder, one.inputs[0])
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
def is_chosen(file: Value) -> bool:
    """Whether somebody outside of the program may choose a file, or the folder that it lies in: by an option, a setting, or
    as an argument of a caller. Of what the program finds or names itself, nearly all is its own."""
    if _names_others(file):
        return True
    match file:
        case Constant():
            return file.is_default or _is_from_others(file)
        case Written():
            return _is_from_others(file)
        case Choice() | Carried() | Items():
            return any(map(is_chosen, file.parts()))
        case Op() if file.name in _AS_PATHS and file.inputs:
            return is_chosen(file.inputs[0])
        case Op() if file.name in _INTO or file.name == "+":
            return any(map(is_chosen, file.inputs)) and not any(map(_is_made_up, file.inputs))
        case Op():
            return not _is_made_up(file)
        case Unknown(text=text):
            return not _OWN.search(text)
    return True


def is_of_others(file: Value) -> bool:
    """Whether the name of a file, or of what holds its path, says that somebody else has made it."""
    return _names_others(file) or _is_from_others(file)


def _names_others(file: Value) -> bool:
    """Whether a name, or an attribute, that holds the path says that somebody else has made the file: `cfg.pretrained_ckpt`."""
    return isinstance(file, (Unknown, Op)) and _FROM_OTHERS.search(_words(file)) is not None


def _words(part: Unknown | Op) -> str:
    return f"{part.text} {constant(part.options.get('name'))}" if isinstance(part, Op) else part.text


def _is_made_up(part: Value) -> bool:
    """Whether the program fills this part of a path in, or finds it by a search."""
    while isinstance(part, Op) and part.name in _AS_PATHS and part.inputs:
        part = part.inputs[0]
    if isinstance(part, Written):
        return not _is_from_others(part)
    if isinstance(part, Unknown):
        return bool(_OWN.search(part.text))
    if _is_temporary(part):
        return True
    if not isinstance(part, Op):
        return False
    return part.text.endswith(_FILLED_IN) or bool(_OWN.search(_words(part))) or _is_found(part)


def _is_temporary(part: Value) -> bool:
    """Whether a part of a path is a folder or file that the program has made for a while: `tempfile.mkdtemp()`, or the name of
    a `TemporaryDirectory`."""
    return any(
        isinstance(one, Op) and one.name.startswith("tempfile.")
        for one in reached([part], lambda one: one.inputs[:1] if isinstance(one, Op) else (), 4)
    )


def is_own_file(file: Value) -> bool:
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
