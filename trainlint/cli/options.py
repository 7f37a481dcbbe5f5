"""Options that several commands have, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainlint.cli.completion import rules_listed
from trainlint.finding import Confidence, Level
from trainlint.output.output_format import ListFormat, OutputFormat

Select = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these rules: codes, prefixes of codes, names, or ALL.",
        metavar="RULES",
        autocompletion=rules_listed,
    ),
]
ExtendSelect = Annotated[
    list[str] | None,
    typer.Option(
        help="These rules too, beside those that are on.", metavar="RULES", autocompletion=rules_listed
    ),
]
Ignore = Annotated[
    list[str] | None, typer.Option(help="Not these rules.", metavar="RULES", autocompletion=rules_listed)
]
MinLevel = Annotated[
    Level | None, typer.Option(help="No findings below this level.", metavar="error|warning|info")
]
MinConfidence = Annotated[
    Confidence | None,
    typer.Option(help="No findings that are less sure than this.", metavar="certain|likely"),
]
FindingsAs = Annotated[
    OutputFormat,
    typer.Option(help=f"Format of the findings: {', '.join(OutputFormat)}.", metavar="FORMAT"),
]
ListedAs = Annotated[
    ListFormat,
    typer.Option(help=f"Format of the list: {', '.join(ListFormat)}.", metavar="FORMAT"),
]
OutputFile = Annotated[
    Path | None, typer.Option(help="Write here instead of to standard output.", metavar="FILE")
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even with findings.")]
ConfigFile = Annotated[
    Path | None, typer.Option(help="Use this configuration file instead of the nearest.", metavar="FILE")
]
CacheDir = Annotated[Path | None, typer.Option(help="Cache directory.", metavar="FOLDER")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Do not use a cache.")]

OwnRules = Annotated[
    bool | None,
    typer.Option(
        "--own-rules/--no-own-rules",
        help="Run the rules that `rule-paths` names, which is code, or leave them out.",
        show_default=False,
    ),
]


def separated(values: list[str] | None) -> tuple[str, ...]:
    """What a repeatable option or argument was given, with commas between."""
    return tuple(item.strip() for value in values or [] for item in value.split(",") if item.strip())
