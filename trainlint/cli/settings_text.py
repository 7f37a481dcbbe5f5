"""What is in force, as a configuration that could be written down, with where each value comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from trainlint.check.settings import Setting, Settings
from trainlint.output.printable import printable
from trainlint.output.style import Meaning, Piece
from trainlint.output.well_formed import well_formed

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def settings_text(settings: Settings) -> Iterator[Piece]:
    """TOML: pasted into a `trainlint.toml`, it says the same."""
    file = settings.file or "no configuration file"
    yield Piece(f"# {printable(settings.folder)}: {printable(file)}\n\n", "gutter")
    for one in settings.values:
        yield from _line(one)
    yield Piece(f"\n# rules: {len(settings.on)} on, {len(settings.off)} off\n", "gutter")
    if settings.off:
        yield Piece(f"# off: {', '.join(settings.off)}\n", "gutter")


def settings_concise(settings: Settings) -> Iterator[Piece]:
    for one in settings.values:
        value = "" if one.value is None else toml(one.value)
        yield Piece(f"{one.name}={value} ({printable(one.origin)})\n")


def settings_json(settings: Settings) -> str:
    document = {
        "version": 1,
        "folder": settings.folder,
        "file": settings.file,
        "settings": {one.name: {"value": one.value, "origin": one.origin} for one in settings.values},
        "rules": {"on": settings.on, "off": settings.off},
    }
    return json.dumps(well_formed(document), indent=2) + "\n"


def _line(setting: Setting) -> Iterator[Piece]:
    if setting.value is None:
        yield Piece(f"# {setting.name}: {printable(setting.origin.removeprefix('default: '))}\n", "gutter")
        return
    meaning: Meaning = "" if setting.origin.startswith("default") else "strong"
    yield Piece(f"{setting.name} = {toml(setting.value)}", meaning)
    yield Piece(f"  # {printable(setting.origin)}\n", "gutter")


def toml(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            pairs = (f"{_key(key)} = {toml(one)}" for key, one in value.items())
            return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return _string(str(value))


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    """JSON's strings are TOML's, but for DEL; what turns text around is shown as an escape."""
    quoted = json.dumps(well_formed(text), ensure_ascii=False)
    return "".join(
        one if printable(one) == one else f"\\u{ord(one):04x}" for one in quoted.replace("\x7f", "\\u007f")
    )
