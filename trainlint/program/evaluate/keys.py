"""Under which names the engine keeps what it knows of an object, beside the attributes of the program's.

Each begins with a character that no attribute begins with, not even one that `setattr` sets.
"""

from __future__ import annotations

_MARK = "\0"

INITIALISED = f"{_MARK}initialised"
"""`nn.Module.__init__` has run."""

WRAPPED = f"{_MARK}wrapped"
"""A module stands behind a wrapper, which calls it."""

OPTIMIZERS = f"{_MARK}the framework's optimizers"
"""What a framework keeps for a module that steps by hand."""

CONFIGURED = f"{_MARK}what the framework was given"
"""What `configure_optimizers` has returned for a module."""

SCHEDULES = f"{_MARK}the framework's schedules"
"""Its schedules."""

FACTORY = f"{_MARK}factory"
"""What makes the entries of a dict that are asked for before they are set."""

HOOKS = f"{_MARK}hooks"
"""The handles of the hooks that a module calls after its forward."""

ENTERED = f"{_MARK}entered"
"""The contexts that an `ExitStack` leaves at the end of its block."""

NAMES_OF = f"{_MARK}names of"
"""Whose attributes or names a dict holds: what is put into `vars(args)` is an attribute of `args`."""

TRAINED = f"{_MARK}trained"
"""A trainer has been told to train, or to evaluate."""

BY_A_NAME = "attribute set at "
"""How those keys begin under which an object holds what gets a name that the program computes: then comes the line."""

_OPTION = f"{_MARK}option "


def prefix(name: str) -> str:
    """What the keys of the state of the wrapper under a name begin with."""
    return f"{_MARK}prefix {name}"


def computes(name: str) -> str:
    """That a method computes with the model whose it is."""
    return f"{_MARK}computes {name}"


_ASKED = f"{_MARK}get("


def asked(text: str) -> str:
    """What `get(text)` has given."""
    return f"{_ASKED}{text})"


def is_asked(key: str) -> bool:
    """Whether what `get` has given is kept under a key."""
    return key.startswith(_ASKED)


def not_followed(name: str) -> str:
    """What a property has given that is not followed."""
    return f"{_MARK}property {name}"


def cached(name: str, given: object) -> str:
    """What a function behind a cache has given for some arguments."""
    return f"{_MARK}cached {name} {given}"


def item(index: object) -> str:
    """What `value[index]` is."""
    return f"[{index!r}]"


def option(name: str) -> str:
    """What an option of a parser is if the user does not give it."""
    return _OPTION + name


def option_of(key: str) -> str | None:
    """The name of the option that is kept under a key; None where that is something else."""
    return key[len(_OPTION) :] if key.startswith(_OPTION) else None
