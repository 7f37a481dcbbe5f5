"""`trainlint doctor`: what is there, what is in force, and what keeps rules silent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from trainlint.cli.exits import CLEAN, FOUND, exit_codes
from trainlint.cli.options import ConfigFile, ListedAs, OutputFile
from trainlint.output.delivery import deliver
from trainlint.output.layout import columns
from trainlint.output.output_format import ListFormat
from trainlint.output.printable import printable
from trainlint.output.style import Meaning, Piece
from trainlint.output.wrapping import wrapped

if TYPE_CHECKING:
    from trainlint.doctor.row import Sections

_COLOURS: dict[str, Meaning] = {"ok": "", "note": "warning", "wrong": "error"}


def doctor(
    path: Annotated[str, typer.Argument(help="The folder to be checked.", metavar="[PATH]")] = ".",
    config: ConfigFile = None,
    output_format: ListedAs = ListFormat.text,
    output_file: OutputFile = None,
) -> None:
    """Say what is installed and in force, what a check of a folder sees, and what keeps rules silent there.

    Imports neither torch nor your code. Exits with 1 if something is in the way.
    """
    with exit_codes():
        from trainlint.doctor.installed import installed_here
        from trainlint.doctor.project import seen_here

        found = {**installed_here(), **seen_here(path, config)}
        match output_format:
            case ListFormat.text:
                pieces = wrapped(_text(found), None if output_file else columns())
            case ListFormat.concise:
                pieces = _concise(found)
            case ListFormat.json:
                pieces = iter([Piece(_json(found))])
        deliver(pieces, output_file)
        raise typer.Exit(
            FOUND if any(row.state == "wrong" for rows in found.values() for row in rows) else CLEAN
        )


def _text(found: Sections) -> Iterator[Piece]:
    for heading, rows in found.items():
        yield Piece(f"{heading}\n", "strong")
        for row in rows:
            yield Piece(f"  {printable(row.name)}", _COLOURS[row.state])
            yield Piece(f": {printable(row.said)}\n")


def _concise(found: Sections) -> Iterator[Piece]:
    for heading, rows in found.items():
        for row in rows:
            yield Piece(f"{row.state}: {heading.lower()}: {printable(row.name)}: {printable(row.said)}\n")


def _json(found: Sections) -> str:
    sections = {heading: [row._asdict() for row in rows] for heading, rows in found.items()}
    return json.dumps({"version": 1, "sections": sections}, indent=2) + "\n"
