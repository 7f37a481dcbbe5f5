"""Whether what was read from a file has the types that a class declares: a file may be damaged, or not ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

Check = Callable[[Any], bool]


def is_sound(thing: Any) -> bool:
    """Whether every field of a dataclass holds what is declared of it. What its parts hold is not looked at."""
    kind: Any = type(thing)
    return all(check(getattr(thing, name)) for name, check in _checks(kind))


@cache
def _checks(kind: Any) -> list[tuple[str, Check]]:
    hints = get_type_hints(kind)
    return [(one.name, _check(hints[one.name])) for one in fields(kind)]


def _check(hint: Any) -> Check:
    if hint is Any:
        return lambda thing: True
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        ways = [_check(one) for one in inner]
        return lambda thing: any(way(thing) for way in ways)
    if origin is tuple:
        return _of_tuple(inner)
    if origin in (list, frozenset, set):
        item = _check(inner[0])
        return lambda thing: isinstance(thing, origin) and all(map(item, thing))
    if origin is dict:
        key, value = map(_check, inner)
        return lambda thing: isinstance(thing, dict) and all(key(a) and value(b) for a, b in thing.items())
    return _of_class(NoneType if hint is None else hint)


def _of_tuple(inner: tuple[Any, ...]) -> Check:
    if inner[1:] == (...,):
        item = _check(inner[0])
        return lambda thing: isinstance(thing, tuple) and all(map(item, thing))
    items = [_check(one) for one in inner]
    return lambda thing: (
        isinstance(thing, tuple)
        and len(thing) == len(items)
        and all(check(one) for check, one in zip(items, thing, strict=True))
    )


def _of_class(kind: Any) -> Check:
    if kind in (int, float):
        wanted = (int, float) if kind is float else int
        return lambda thing: isinstance(thing, wanted) and not isinstance(thing, bool)
    return lambda thing: isinstance(thing, kind)
