"""Models that hand a mask on to layers which apply it: there the mask is made, though nothing there says what it is for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainlint import words
from trainlint.program.incremental.outcome import Defined, DefinedFunction

_HANDED = ("mask", "pad")
"""Parts of the names of what is handed on."""


def hand_masks_on(defined: Mapping[str, Defined]) -> frozenset[tuple[str, str]]:
    """The classes, by file and name, whose `forward` names a mask and which hold a layer that says what a mask does to it,
    or hold one that does."""
    forwards = [
        (path, found.classes[one.owner].name, _names_of_init(found, one), one.names)
        for path, found in defined.items()
        for one in found.functions
        if one.owner is not None and one.name == "forward" and _names_mask(one.names)
    ]
    speaking = {name for _, name, _, names in forwards if any(map(words.is_declared, names))}
    handing: set[tuple[str, str]] = set()
    grown = bool(speaking)
    while grown:
        found_now = {(path, name) for path, name, held, _ in forwards if not held.isdisjoint(speaking)}
        grown = not found_now <= handing
        handing |= found_now
        speaking |= {name for _, name in found_now}
    return frozenset(handing)


def _names_of_init(defined: Defined, function: DefinedFunction) -> frozenset[str]:
    init = defined.classes[function.owner].init if function.owner is not None else None
    return init.names if init is not None else frozenset()


def _names_mask(names: Iterable[str]) -> bool:
    return any(part in name.lower() for name in names for part in _HANDED)
