"""`trainlint config`: what is in force, and where it comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from trainlint.cli.exits import exit_codes
from trainlint.cli.options import ConfigFile, ListedAs, OutputFile
from trainlint.output.delivery import deliver
from trainlint.output.output_format import ListFormat
from trainlint.output.style import Piece


def config(
    path: Annotated[str, typer.Argument(help="The file or folder to be checked.", metavar="[PATH]")] = ".",
    config: ConfigFile = None,
    output_format: ListedAs = ListFormat.text,
    output_file: OutputFile = None,
) -> None:
    """Show the effective settings, and where each comes from."""
    with exit_codes():
        from trainlint.check.settings import settings_for
        from trainlint.cli.settings_text import settings_concise, settings_json, settings_text

        settings = settings_for(path, config)
        match output_format:
            case ListFormat.text:
                pieces = settings_text(settings)
            case ListFormat.concise:
                pieces = settings_concise(settings)
            case ListFormat.json:
                pieces = iter([Piece(settings_json(settings))])
        deliver(pieces, output_file)
