"""`trainlint explain` and `trainlint rules`: what there is, and what it means."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from trainlint.cli import completion
from trainlint.cli.exits import exit_codes
from trainlint.cli.options import ListedAs, OutputFile, separated
from trainlint.errors import UsageError
from trainlint.output.delivery import deliver
from trainlint.output.output_format import ListFormat
from trainlint.output.style import Piece
from trainlint.output.writing import wants_colour, write


def explain(
    rule: Annotated[
        str, typer.Argument(help="A rule's code or name.", metavar="RULE", autocompletion=completion.rules)
    ],
) -> None:
    """Show a rule's page."""
    with exit_codes():
        from trainlint.catalogue import names, page, url
        from trainlint.check.select import code_prefix, nearest_rule

        known = names()
        code = next((code for code, name in known.items() if rule.lower() in (code.lower(), name)), None)
        if code is None:
            if code_prefix(rule, known):
                raise UsageError(
                    f"`{rule}` is the prefix of several codes: `trainlint rules {rule}` lists them"
                )
            raise UsageError(f"no rule is called `{rule}`{nearest_rule(rule, known)}")
        where = url(code)
        shown = f"{page(code)}\nOn the site: <{where}>\n" if where else page(code)
        if wants_colour(sys.stdout):
            from rich.console import Console
            from rich.markdown import Markdown

            with_colour = Console(force_terminal=True)
            with with_colour.capture() as rendered:
                with_colour.print(Markdown(shown))
            write(rendered.get(), sys.stdout)
        else:
            write(shown, sys.stdout)


def rules(
    selected: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only these: codes, prefixes of codes, or names.",
            metavar="[RULES]...",
            autocompletion=completion.rules,
        ),
    ] = None,
    output_format: ListedAs = ListFormat.text,
    output_file: OutputFile = None,
) -> None:
    """List the rules."""
    with exit_codes():
        from trainlint.catalogue import described
        from trainlint.output.rule_index import concise_rule_index, json_rule_index, rule_index

        found = described(separated(selected))
        match output_format:
            case ListFormat.text:
                pieces = rule_index(found)
            case ListFormat.concise:
                pieces = concise_rule_index(found)
            case ListFormat.json:
                pieces = iter([Piece(json_rule_index(found))])
        deliver(pieces, output_file)
