"""Which torch people and machines are told to install: commands in READMEs, Dockerfiles and workflows, and the versions
that a workflow goes through. Nothing of it is run."""

from __future__ import annotations

import re
from collections.abc import Iterator

_INSTALLS = re.compile(
    r"\b(?:pip[\d.]*|conda|mamba|micromamba|uv(?:\s+pip)?|poetry)\s+(?:install|add|create)\b"
)
_PIN = re.compile(
    r"(?<![\w./-])(?:py)?torch(?:-[cg]pu)?\s*(?P<versions>(?:===|==|~=|>=|<=|=|<|>)\s*\d[\w.*+]*(?:\s*,\s*[<>=!~]+\s*\d[\w.*+]*)*)"
)
_EXACT = re.compile(r"(?<![\w./-])(?:py)?torch\s*==?\s*(?P<version>\d[\w.]*)")
_LISTED = re.compile(
    r"^\s*(?:[-*+]|\d+[.)])\s*[*`\[]*(?:Py)?Torch[*`\]]*(?:\([^()\s]*\))?\s*(?:version|v|:|\(|=)?\s*"
    r"(?P<sign>>=|>|≥|~=|<=|<)?\s*v?"
    r"(?P<version>\d+\.\d+(?:\.\d+)*)(?P<after>\s*(?:$|(?:[-+,;.()\[|<\u2013]|(?:or|and)\b).*$))",
    re.IGNORECASE | re.MULTILINE,
)
"""`- PyTorch 1.2`, `* PyTorch (>= 1.7)`: an entry of a list of what is needed."""
_OR_LATER = re.compile(
    r"\s*(?:\+|\(?,?\s*(?:or|and)\s+(?:above|greater|higher|later|newer|up\b))", re.IGNORECASE
)
_MATRIX = re.compile(
    r"^\s*-?\s*[\"']?(?:py)?torch(?:[-_]?version)?[\"']?\s*:\s*(?P<versions>.*\d.*)$", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:\.\d+)?(?![\w.])")


def requirements_of_commands(text: str) -> Iterator[str]:
    """What `pip install` and its like are given, one command a line; a backslash continues it."""
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        command = _INSTALLS.search(line)
        if command is not None:
            for pin in _PIN.finditer(line, command.end()):
                yield f"torch{_as_pip(pin['versions'])}"


def requirements_of_readme(text: str) -> Iterator[str]:
    """Its commands, exact pins, and what its lists name in words."""
    yield from requirements_of_commands(text)
    for pin in _EXACT.finditer(text):
        yield f"torch=={pin['version']}"
    for entry in _LISTED.finditer(text):
        sign = ">=" if _OR_LATER.match(entry["after"]) else (entry["sign"] or "==").replace("≥", ">=")
        yield f"torch{sign}{entry['version']}"


def requirements_of_workflow(text: str) -> Iterator[str]:
    """Its commands, and the versions of its matrix."""
    yield from requirements_of_commands(text)
    for line in text.splitlines():
        matrix = _MATRIX.match(line.split(" #")[0])
        if matrix is not None:
            for number in _NUMBER.findall(matrix["versions"]):
                yield f"torch=={number}"


def _as_pip(versions: str) -> str:
    """conda writes `=1.9` for any version that begins so."""
    return f"={versions}" if re.match(r"=\s*\d", versions) else versions
