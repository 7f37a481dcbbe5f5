"""Find the rules: every folder under `rules/` is one rule, and its name is the rule's code and name."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from trainlint.fix import Propose
from trainlint.rule import Rule

# A module with a `__path__` is a package, so `trainlint.rules.<folder>.rule` imports from here:
# from inside this package once installed, from beside it in a checkout.
_HERE = Path(__file__).parent
FOLDER = next(d for d in (_HERE / "rules", _HERE.parent / "rules") if d.is_dir())
__path__ = [str(FOLDER)]


@dataclass(frozen=True)
class Entry:
    """One rule's folder, for example `tl101_softmax_before_cross_entropy`."""

    folder: Path

    @property
    def code(self) -> str:
        return self.folder.name.partition("_")[0].upper()

    @property
    def name(self) -> str:
        return self.folder.name.partition("_")[2].replace("_", "-")

    @property
    def page(self) -> str:
        return (self.folder / "README.md").read_text(encoding="utf-8")

    @cached_property
    def rule(self) -> Rule[Any]:
        found = import_module(f"{__name__}.{self.folder.name}.rule").check
        if not isinstance(found, Rule):
            raise TypeError(f"{self.folder}: `check` is not a rule")
        return found

    @property
    def is_fixable(self) -> bool:
        return (self.folder / "fix.py").is_file()

    @cached_property
    def fix(self) -> Propose | None:
        """What proposes fixes for the rule's findings; None where they are not fixed."""
        if not self.is_fixable:
            return None
        found: Propose = import_module(f"{__name__}.{self.folder.name}.fix").fix
        return found


@cache
def entries() -> tuple[Entry, ...]:
    """Every rule, by code."""
    return tuple(Entry(file.parent) for file in sorted(FOLDER.glob("tl*/rule.py")))


def import_rules() -> None:
    """Import all of them now, and not when the first facts are there."""
    for entry in entries():
        with suppress(Exception):  # what is wrong with a rule is said where it is asked
            entry.rule  # noqa: B018
