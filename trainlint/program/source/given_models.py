"""The model that a class is given, by what a framework asks of the class.

A module that hands out `self.parameters()` to be trained, and holds one part that may have any, is given a model: nobody
needs to call `parameters()` of that part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk

_ASKED = "configure_optimizers"
_NO_MODEL = re.compile(
    r"loss|crit|metric|acc(uracy)?$|^(train|val|test)_|act(ivation)?(_fn)?$|transform|augment|norm"
)
"""Attributes that are called and hardly have parameters to train."""
_PLAIN = re.compile(r"((Log)?Softmax|(Log)?Sigmoid|ReLU6?|GELU|Tanh|Dropout\w*|Identity|Flatten|\w*Loss)$")
"""Layers without parameters."""


def given_model(cls: s.Class) -> str | None:
    """The attribute of `self` that is the model a class is given, as it is written; None where that is not clear."""
    methods = {node.name: node for node in cls.body if isinstance(node, s.Function)}
    asked, init = methods.get(_ASKED), methods.get("__init__")
    if asked is None or init is None or not _hands_out_all(asked):
        return None
    held = _held(cls)
    where = methods.get("forward", cls)
    called = {one for one in _called(where) if one in held and one not in methods}
    parts = [one for one in sorted(called) if not _NO_MODEL.search(one) and not _is_plain(held[one])]
    if len(parts) != 1 or not _is_given(held[parts[0]], init):
        return None
    return f"self.{parts[0]}"


def _hands_out_all(code: s.Function) -> bool:
    """Whether a method calls `self.parameters()`."""
    return any(
        isinstance(node, s.Call)
        and isinstance(node.func, s.Attribute)
        and node.func.name in ("parameters", "named_parameters")
        and isinstance(node.func.value, s.Name)
        and node.func.value.name == "self"
        for node in walk(code.body)
    )


def _held(cls: s.Class) -> Mapping[str, list[s.Expr | None]]:
    """What the code of a class sets attributes of `self` to."""
    found: dict[str, list[s.Expr | None]] = {}
    for node in walk(cls.body):
        if isinstance(node, s.Assign):
            for target in node.targets:
                name = _of_self(target)
                if name is not None:
                    found.setdefault(name, []).append(node.value)
    return found


def _called(code: s.Function | s.Class) -> Iterator[str]:
    for node in walk(code.body):
        if isinstance(node, s.Call) and (name := _of_self(node.func)) is not None:
            yield name


def _of_self(node: s.Expr) -> str | None:
    match node:
        case s.Attribute(value=s.Name(name="self"), name=name):
            return name
    return None


def _is_plain(values: list[s.Expr | None]) -> bool:
    return all(
        isinstance(one, s.Call)
        and isinstance(one.func, (s.Attribute, s.Name))
        and _PLAIN.match(one.func.name)
        for one in values
    )


def _is_given(values: list[s.Expr | None], init: s.Function) -> bool:
    """Whether an attribute is set to an argument of the constructor."""
    names = {one.name for one in init.parameters if not one.star}
    return any(isinstance(one, s.Name) and one.name in names for one in values)
