"""`trainlint schema`: what a configuration may hold, and what a report consists of."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated

import typer

from trainlint.cli.exits import exit_codes
from trainlint.cli.options import OutputFile
from trainlint.output.delivery import deliver
from trainlint.output.style import Piece


class Described(str, Enum):
    """What there is a schema of."""

    config = "config"
    report = "report"


def schema(
    of: Annotated[
        Described,
        typer.Argument(help="The configuration, or the JSON of `check` and `run`.", metavar="config|report"),
    ],
    output_file: OutputFile = None,
) -> None:
    """Print the JSON schema of the configuration or of reports."""
    with exit_codes():
        from trainlint.output.schema import configuration, report

        made = configuration() if of is Described.config else report()
        deliver([Piece(json.dumps(made, indent=2) + "\n")], output_file)
