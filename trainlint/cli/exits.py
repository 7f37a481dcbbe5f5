"""How a command ends when something goes wrong."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from trainlint.errors import ProgramFailed, ReportedElsewhere, UsageError
from trainlint.output.writing import complain

CLEAN, FOUND, FAILED, PROGRAM_FAILED, INTERRUPTED = 0, 1, 2, 3, 130


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what is raised inside into a message and the exit code that goes with it."""
    try:
        yield
    except typer.Exit:
        raise
    except ReportedElsewhere as elsewhere:
        raise typer.Exit(CLEAN) from elsewhere
    except UsageError as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    except ProgramFailed as error:
        complain(str(error))
        raise typer.Exit(PROGRAM_FAILED) from error
    except KeyboardInterrupt as interrupt:
        raise typer.Exit(INTERRUPTED) from interrupt
    except Exception as error:
        traceback.print_exc()
        complain("trainlint itself failed, which is a bug: please report it with the lines above")
        raise typer.Exit(FAILED) from error
