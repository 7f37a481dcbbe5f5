"""`trainlint new-rule` and `trainlint test-rules`: rules of one's own, from nothing to green."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from trainlint.cli.exits import CLEAN, FOUND, exit_codes
from trainlint.cli.options import ConfigFile
from trainlint.errors import UsageError
from trainlint.output.style import Piece
from trainlint.output.writing import write, write_pieces


def new_rule(
    code: Annotated[str, typer.Argument(help="Its code, such as ACME101.", metavar="CODE")],
    name: Annotated[str, typer.Argument(help="Its name, such as full-dropout.", metavar="NAME")],
    folder: Annotated[
        Path, typer.Option("--folder", help="Where rules of your own lie.", metavar="FOLDER")
    ] = Path("lint"),
) -> None:
    """Write a rule of your own that works, to be changed into the one that you want."""
    with exit_codes():
        from trainlint.cli.rules_here import bring_rules_here
        from trainlint.project.config import find_config
        from trainlint.rule_tests.new import new_rule as written

        with suppress(UsageError):  # `rule-paths` may name a folder in which this is the first rule
            bring_rules_here()
        made = written(code, name, folder)
        write(f"{made} is a rule that works: change its four files into yours.\n", sys.stdout)
        write(f"trainlint test-rules {folder}    # its tests\n", sys.stdout)
        if folder.resolve() in find_config(Path.cwd()).rule_paths:
            write("trainlint check --own-rules    # check with it\n", sys.stdout)
        else:
            said = f'`rule-paths = ["{folder.as_posix()}"]` in the configuration makes it one of the project\'s rules.'
            write(f"{said}\n", sys.stdout)


def test_rules(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of rules; without any, those of `rule-paths`.", metavar="[PATHS]..."),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Whether to run their programs, which needs torch.")
    ] = True,
    config: ConfigFile = None,
) -> None:
    """Test rules of your own: their pages, examples, programs and fixes. Their code is run.

    Exits with 0 if all is well, 1 if something is wrong with a rule, and 2 if there is none.
    """
    with exit_codes():
        from trainlint.project.config import find_config, read_config
        from trainlint.rule_tests.testing import brought_by, wrong_with
        from trainlint.rules import bring, entries

        settings = read_config(config) if config else find_config(Path.cwd())
        named = paths or list(settings.rule_paths)
        if not named:
            raise UsageError("name a folder of rules, or have the configuration name it in `rule-paths`")
        runs = run and importlib.util.find_spec("torch") is not None
        bring(brought_by(named))
        only = {one.resolve() for one in named}
        wrong = 0
        for entry in entries():
            if entry.brought is None or only.isdisjoint((entry.folder, entry.folder.parent)):
                continue
            said = list(wrong_with(entry, runs=runs))
            wrong += len(said)
            write_pieces(_outcome(f"{entry.code} {entry.name}", said), sys.stdout)
        if run and not runs:
            write("torch is not installed here, so no program was run.\n", sys.stderr)
        raise typer.Exit(FOUND if wrong else CLEAN)


def _outcome(rule: str, said: list[str]) -> list[Piece]:
    if not said:
        return [Piece(rule, "strong"), Piece(": all is well\n")]
    return [Piece(rule, "strong"), Piece(":\n"), *(Piece(f"  {one}\n") for one in said)]
