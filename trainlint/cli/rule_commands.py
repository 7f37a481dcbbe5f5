"""`trainlint explain` and `trainlint rules`: what there is, and what it means."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from trainlint.cli import completion
from trainlint.cli.exits import exit_codes
from trainlint.cli.options import ListedAs, OutputFile, OwnRules, separated
from trainlint.errors import BadRule, UsageError
from trainlint.output.delivery import deliver
from trainlint.output.layout import columns
from trainlint.output.output_format import ListFormat
from trainlint.output.paging import write_paged
from trainlint.output.style import Piece
from trainlint.output.writing import complain, wants_colour, write
from trainlint.project.config import find_config

_LINE = 100
"""Columns of running text, however wide a terminal is."""


def explain(
    rule: Annotated[
        str, typer.Argument(help="A rule's code or name.", metavar="RULE", autocompletion=completion.rules)
    ],
) -> None:
    """Show a rule's page."""
    with exit_codes():
        from trainlint.catalogue import code_of, known, names, page, url
        from trainlint.check.select import code_prefix, nearest_rule
        from trainlint.cli.rules_here import bring_rules_here

        code = code_of(rule, names())
        if code is None:
            bring_rules_here()
            code = code_of(rule, known())
        if code is None:
            if code_prefix(rule, known()):
                raise UsageError(
                    f"`{rule}` is the prefix of several codes: `trainlint rules {rule}` lists them"
                )
            raise UsageError(f"no rule is called `{rule}`{nearest_rule(rule, known())}")
        where = url(code)
        heading, below, rest = page(code).partition("\n")
        shown = f"{heading}{below}\n{_standing_here(code)}\n{rest}"
        _show(f"{shown}\nOn the site: <{where}>\n" if where else shown)


def _standing_here(code: str) -> str:
    """Whether the rule is on, of the working directory; a page is there whatever a configuration says."""
    from trainlint.check.standing import standing
    from trainlint.cli.rules_here import bring_rules_here

    try:
        bring_rules_here()
        return standing(code, find_config(Path.cwd()))
    except UsageError as error:
        return f"Whether it is on here is not known: {error}."


def _show(page: str) -> None:
    """Rendered where there is colour, and through a pager on a terminal."""
    if not wants_colour(sys.stdout):
        write_paged(page, sys.stdout)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    with_colour = Console(force_terminal=True, width=min(columns() or _LINE, _LINE))
    with with_colour.capture() as rendered:
        with_colour.print(Markdown(page))
    write_paged(rendered.get(), sys.stdout)


def rules(
    selected: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only these: codes, prefixes of codes, or names.",
            metavar="[RULES]...",
            autocompletion=completion.rules,
        ),
    ] = None,
    seen: Annotated[
        str | None,
        typer.Option(help="Only rules whose symptoms hold this word.", metavar="WORDS"),
    ] = None,
    own_rules: OwnRules = None,
    output_format: ListedAs = ListFormat.text,
    output_file: OutputFile = None,
) -> None:
    """List the rules."""
    with exit_codes():
        from trainlint.catalogue import described, symptoms
        from trainlint.cli.rules_here import bring_rules_here
        from trainlint.output.rule_index import concise_rule_index, json_rule_index, rule_index
        from trainlint.rules import left_out

        try:
            bring_rules_here(own_rules=own_rules)
        except BadRule:
            raise
        except UsageError as error:  # the list is there whatever a configuration says
            complain(str(error))
        if left_out():
            listed = ", ".join(left_out())
            write(
                f"{listed}: rules of the project's own, which is code; --own-rules lists them.\n", sys.stderr
            )
        found = described(separated(selected))
        if seen is not None:
            found = (one for one in found if any(seen.lower() in said.lower() for said in symptoms(one.code)))
        match output_format:
            case ListFormat.text:
                pieces = rule_index(found)
            case ListFormat.concise:
                pieces = concise_rule_index(found)
            case ListFormat.json:
                pieces = iter([Piece(json_rule_index(found))])
        deliver(pieces, output_file)
