"""A new rule that works, to be changed into the one that is wanted."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from trainlint.catalogue import known
from trainlint.errors import UsageError
from trainlint.output.writing import write_file
from trainlint.rules import FOLDER_NAME

_SCAFFOLD = Path(__file__).parent / "scaffold"
_CODE = re.compile(r"[a-z]{2,8}\d{3}")


def new_rule(code: str, name: str, folder: Path) -> Path:
    """Write the folder of a rule. Raises UsageError for a code or name that cannot be one, or is taken."""
    code, name = code.lower(), name.lower().replace("_", "-")
    if not _CODE.fullmatch(code) or code[:-3] == "tl":
        raise UsageError(
            f"`{code}` cannot be a code: two to eight letters, not TL, and three digits, such as ACME101"
        )
    made = folder / f"{code}_{name.replace('-', '_')}"
    if not FOLDER_NAME.fullmatch(made.name):
        raise UsageError(f"`{name}` cannot be a name: words of letters and digits with `-` between")
    for taken, called in known().items():
        if code.upper() == taken or name == called:
            raise UsageError(f"there is a rule {taken} {called} already")
    if made.exists():
        raise UsageError(f"{made} is there already")
    unfinished = made.with_name(f".{made.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        for file in sorted(_SCAFFOLD.iterdir()):
            text = (
                file.read_text(encoding="utf-8")
                .replace("ACME101", code.upper())
                .replace("full-dropout", name)
            )
            write_file(unfinished / file.name.removesuffix(".txt"), text)
        unfinished.rename(made)
    except OSError as error:
        raise UsageError(f"{made}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return made
