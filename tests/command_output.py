"""What the command prints as JSON."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.warm import executable

if TYPE_CHECKING:
    pass


ROOT = Path(__file__).parent.parent


FIRST_LOOK = ROOT / "fixtures/first_look"


PLACE = {
    "path": {"type": "string"},
    "cell": {"type": ["integer", "null"]},
    "line": {"type": "integer"},
    "column": {"type": "integer"},
}


FINDING = {
    **PLACE,
    "code": {"pattern": r"^TL\d+$"},
    "name": {"type": "string"},
    "level": {"enum": ["error", "warning", "info"]},
    "message": {"type": "string"},
    "end_line": {"type": "integer"},
    "end_column": {"type": "integer"},
    "subject": {"type": ["string", "null"]},
    "because": {"type": "array", "items": {"$ref": "#/$defs/because"}},
    "verdict": {"enum": [None, "confirmed", "refuted", "undecided", "not-reached", "observed"]},
    "evidence": {"type": "object"},
    "fix": {"type": ["object", "null"]},
    "suppressed": {"type": "boolean"},
    "confidence": {"enum": [None, "certain", "likely"]},
    "doubt": {"type": ["string", "null"]},
}


def exactly(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


DOCUMENT = {
    **exactly(
        {
            "version": {"const": 1},
            "findings": {"type": "array", "items": exactly(FINDING)},
            "errors": {
                "type": "array",
                "items": exactly(
                    {
                        "path": {"type": "string"},
                        "cell": {"type": ["integer", "null"]},
                        "line": {"type": ["integer", "null"]},
                        "message": {"type": "string"},
                    }
                ),
            },
            "limits": {
                "type": "array",
                "items": exactly(
                    {name: {"type": "string"} for name in ("path", "entry", "limit", "not_judged")}
                ),
            },
            "not_judged": {
                "type": "array",
                "items": exactly({name: {"type": "string"} for name in ("path", "entry", "why")}),
            },
            "summary": exactly(
                {
                    "files": {"type": "integer"},
                    "seconds": {"type": "number"},
                    "by_level": exactly(
                        {level: {"type": "integer"} for level in ("error", "warning", "info")}
                    ),
                    "by_confidence": exactly({one: {"type": "integer"} for one in ("certain", "likely")}),
                    "by_verdict": {"type": "object"},
                    "fixed": {"type": "integer"},
                    "withheld": exactly(
                        {
                            "known": {"type": ["integer", "null"]},
                            "gone": {"type": "integer"},
                            "unchanged": {"type": ["integer", "null"]},
                            "imported": {"type": "integer"},
                            "unused": {"type": "integer"},
                        }
                    ),
                }
            ),
        }
    ),
    "$defs": {"because": exactly({**PLACE, "message": {"type": "string"}})},
}


def python(*arguments: str, cwd: Path = ROOT, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*executable(), *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
