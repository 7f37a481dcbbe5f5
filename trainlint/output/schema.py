"""JSON schemas, made from the types of what is written and from the settings that are read."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from trainlint.finding import Place
from trainlint.output.json_run import KINDS
from trainlint.output.json_types import ReportJson
from trainlint.project.config import SETTINGS

_DIALECT = "http://json-schema.org/draft-07/schema#"
_PLAIN: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    Any: {},
}
_PLACE = {
    "type": "object",
    "required": ["path", "line", "column"],
    "properties": {"path": {"type": "string"}, "line": {"type": "integer"}, "column": {"type": "integer"}},
}
_NAMED_NUMBERS = {"type": ["number", "string"], "description": "`inf`, `-inf` and `nan` are strings."}


def configuration() -> dict[str, Any]:
    """What may stand in a `trainlint.toml`, or below `tool.trainlint` of a pyproject.toml."""
    return {
        "$schema": _DIALECT,
        "title": "trainlint.toml, or [tool.trainlint] of a pyproject.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            name: {**one.schema, "description": one.about} for name, one in sorted(SETTINGS.items())
        },
    }


def report() -> dict[str, Any]:
    """What `check` and `run` write with `--output-format json`."""
    found: dict[str, Any] = {}
    whole = _Schemas(found).of(ReportJson)
    found["Run"] = _run(found)
    found["ReportJson"]["properties"]["run"] = {"$ref": "#/definitions/Run"}
    return {
        "$schema": _DIALECT,
        "title": "The report of trainlint check or run with --output-format json",
        "allOf": [whole],
        "definitions": dict(sorted(found.items())),
    }


def _run(found: dict[str, Any]) -> dict[str, Any]:
    """What a run adds: the facts of each kind, as they are written."""
    schemas = _Schemas(found, float_={**_NAMED_NUMBERS})
    kinds = {name: {"type": "array", "items": schemas.of(kind)} for name, kind in KINDS.items()}
    texts = {"type": "array", "items": {"type": "string"}}
    phase = {"torch": {"type": "string"}, "arguments": texts, "ending": {}, "rank": {}, **kinds}
    return {
        "type": "object",
        "description": "What recorded steps have shown: the first phase of the program, and those after it.",
        "required": [*phase, "later", "not_checked"],
        "properties": {
            **phase,
            "later": {
                "type": "array",
                "items": {"type": "object", "required": [*phase], "properties": phase},
            },
            "not_checked": texts,
        },
    }


class _Schemas:
    """Schemas of types; those that have a name are kept apart, each once.

    Args:
        found: where they are kept.
        float_: what stands for a float.
    """

    def __init__(self, found: dict[str, Any], float_: Mapping[str, Any] | None = None) -> None:
        self._found = found
        self._plain = {**_PLAIN, float: {**(float_ or _PLAIN[float])}}

    def of(self, kind: Any) -> dict[str, Any]:
        if kind in self._plain:
            return {**self._plain[kind]}
        if kind is Place:
            return self._named("Place", lambda: dict(_PLACE))
        origin, inside = get_origin(kind), get_args(kind)
        if origin is Literal:
            return {"enum": list(inside)}
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of(one) for one in inside]}
        if origin in (list, tuple, set, frozenset):
            return self._items(inside)
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(inside[1])}
        if is_typeddict(kind):
            return self._named(kind.__name__, lambda: self._object(kind, list(kind.__required_keys__)))
        if (
            is_dataclass(kind)
            and isinstance(kind, type)
            and kind.__module__.startswith("trainlint.facts.seen.")
        ):
            return self._named(kind.__name__, lambda: self._object(kind, [one.name for one in fields(kind)]))
        return {}

    def _items(self, inside: tuple[Any, ...]) -> dict[str, Any]:
        if inside[-1] is Ellipsis or len(inside) == 1:
            return {"type": "array", "items": self.of(inside[0])}
        return {"type": "array", "items": [self.of(one) for one in inside]}

    def _named(self, name: str, made: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name not in self._found:
            self._found[name] = {}
            self._found[name] = made()
        return {"$ref": f"#/definitions/{name}"}

    def _object(self, kind: Any, required: list[str]) -> dict[str, Any]:
        hints = get_type_hints(kind)
        about = " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
        return {
            "type": "object",
            "description": about,
            "required": [one for one in hints if one in required],
            "properties": {name: self.of(hint) for name, hint in hints.items()},
        }
