"""`trainlint clean`: the cache goes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from trainlint.cli.exits import exit_codes
from trainlint.cli.options import CacheDir, ConfigFile
from trainlint.output.writing import write


def clean(
    path: Annotated[
        str, typer.Argument(help="The project whose configuration says where the cache is.", metavar="[PATH]")
    ] = ".",
    config: ConfigFile = None,
    cache_dir: CacheDir = None,
) -> None:
    """Remove the cache directory. Nothing else is removed."""
    with exit_codes():
        from trainlint.cache.folder import clean as removed_from
        from trainlint.check.checking import CACHE_DIR, common_folder
        from trainlint.errors import UsageError
        from trainlint.output.printable import printable
        from trainlint.project.config import find_config, read_config

        settings = read_config(config) if config else find_config(common_folder([path]))
        folder = cache_dir or settings.cache_dir or CACHE_DIR
        shown = printable(str(folder))
        if not folder.is_dir():
            write(f"There is no cache in {shown}.\n", sys.stdout)
            return
        try:
            removed = removed_from(folder)
        except OSError as error:
            raise UsageError(f"{shown}: cannot be removed: {error.strerror}") from error
        entries = "1 entry" if removed.entries == 1 else f"{removed.entries} entries"
        write(f"Removed {entries} ({_size(removed.size)}) from {shown}.\n", sys.stdout)
        if not removed.whole:
            write(
                "The folder was not removed: it contains files that are not part of the cache.\n", sys.stdout
            )


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
