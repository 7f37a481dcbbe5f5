"""Find the rules: every folder under `rules/` is one rule, and its name is the rule's code and name.

A project, or a package that is installed, may bring more: `bring` says which there are besides trainlint's own.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, cast

from trainlint.errors import BadRule
from trainlint.fix import Propose
from trainlint.rule import Rule

# A module with a `__path__` is a package, so `trainlint.rules.<folder>.rule` imports from here:
# from inside this package once installed, from beside it in a checkout.
_HERE = Path(__file__).parent
FOLDER = next(d for d in (_HERE / "rules", _HERE.parent / "rules") if d.is_dir())
__path__ = [str(FOLDER)]

FOLDER_NAME = re.compile(r"[a-z]{2,8}\d{3}(?:_[a-z0-9]+)+")
"""What the folder of a rule is called: its code, and its name."""

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class Brought(NamedTuple):
    """A folder of rules that are not trainlint's own.

    Args:
        folder: its absolute path.
        origin: who brings it, as people are told.
        content: a name for all the code in it.
        runs: whether its rules are run. If not, no code of it is, and only their codes and names are known.
    """

    folder: str
    origin: str
    content: str
    runs: bool = True

    @property
    def package(self) -> str:
        """The package that its rules are imported from: another one for other code."""
        place = blake2b(f"{self.folder} {self.content}".encode(errors="surrogatepass"), digest_size=8)
        return f"{__name__}.of_{place.hexdigest()}"


@dataclass(frozen=True)
class Entry:
    """One rule's folder, for example `tl101_softmax_before_cross_entropy`."""

    folder: Path
    brought: Brought | None = None
    """By whom, where it is not trainlint's own."""

    @property
    def code(self) -> str:
        return self.folder.name.partition("_")[0].upper()

    @property
    def name(self) -> str:
        return self.folder.name.partition("_")[2].replace("_", "-")

    @property
    def page(self) -> str:
        """Its page. Rules of others need not have one, nor one that can be read."""
        file = self.folder / "README.md"
        if self.brought is not None and not file.is_file():
            return f"# {self.code} {self.name}\n\nThis rule has no page: there is no {shown(file)}.\n"
        return file.read_text(encoding="utf-8", errors="strict" if self.brought is None else "replace")

    @cached_property
    def rule(self) -> Rule[Any]:
        found = getattr(self._imported("rule"), "check", None)
        if not isinstance(found, Rule):
            said = "`check` is not a rule"
            file = self.folder / "rule.py"
            raise BadRule(f"{shown(file)}: {said}") if self.brought else TypeError(f"{file}: {said}")
        return found

    @property
    def is_fixable(self) -> bool:
        return (self.folder / "fix.py").is_file()

    @cached_property
    def fix(self) -> Propose | None:
        """What proposes fixes for the rule's findings; None where they are not fixed."""
        if not self.is_fixable:
            return None
        found: Propose = self._imported("fix").fix
        return found

    def failure(self, part: Literal["rule", "fix"], error: BaseException) -> str:
        """What to say where it has raised: whose mistake that is, and where."""
        if self.brought is not None:
            whose, at = "an error in that rule", fault(error, self.folder / f"{part}.py", self.brought.folder)
        else:
            where = traceback.extract_tb(error.__traceback__)[-1]
            whose, at = "a bug in trainlint", f"{Path(where.filename).name}:{where.lineno}"
        what = f"rule {self.code}" if part == "rule" else f"the fix of {self.code}"
        return f"{what} failed, which is {whose}: {error!r} ({at})"

    def _imported(self, part: str) -> ModuleType:
        """A file of the rule. Raises BadRule where that is not trainlint's own, and cannot be imported."""
        if self.brought is None:
            return import_module(f"{__name__}.{self.folder.name}.{part}")
        kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # old code in it would look like new
        try:
            return import_module(f"{self.brought.package}.{self.folder.name}.{part}")
        except (Exception, SystemExit) as error:
            where = fault(error, self.folder / f"{part}.py", self.brought.folder)
            said = error.msg if isinstance(error, SyntaxError) else error
            raise BadRule(
                f"{where}: rule {self.code} cannot be imported: {type(error).__name__}: {said}"
            ) from error
        finally:
            sys.dont_write_bytecode = kept


def fault(error: BaseException, file: Path, folder: str) -> str:
    """Where an error comes from: the last line of a folder's own code, or else a file of it."""
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        return f"{shown(error.filename)}:{error.lineno}"
    where, step = shown(file), error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename.startswith(folder):
            where = f"{shown(step.tb_frame.f_code.co_filename)}:{step.tb_lineno}"
        step = step.tb_next
    return where


def shown(path: Path | str) -> str:
    """A path as people read it: seen from the working directory, if it is inside."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return str(path)


_brought: tuple[Brought, ...] = ()
_forget: list[Callable[[], None]] = []


def of_the_rules(question: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Remember what follows from the rules that there are, as long as there are no others."""
    kept = cache(question)
    _forget.append(kept.cache_clear)
    return cast("Callable[Asked, Answer]", kept)


def brought() -> tuple[Brought, ...]:
    """The folders of rules that are not trainlint's own."""
    return _brought


def bring(folders: Iterable[Brought]) -> None:
    """From now on there are these rules besides trainlint's own, and no others.

    Raises BadRule for two rules of one code or name.
    """
    global _brought
    wanted = tuple(dict.fromkeys(folders))
    if wanted == _brought:
        return
    _brought = wanted
    for one in wanted:
        package = ModuleType(one.package)
        package.__path__ = [one.folder]
        sys.modules[one.package] = package
    for forget in _forget:
        forget()
    try:
        _refuse_doubles()
    except BadRule:
        bring(())
        raise


def _refuse_doubles() -> None:
    seen: dict[str, Entry] = {}
    for entry in all_entries():
        for said in (entry.code, entry.name):
            other = seen.setdefault(said, entry)
            if other is not entry:
                raise BadRule(
                    f"{shown(entry.folder)}: there is another rule {said}, in {shown(other.folder)}"
                )


@of_the_rules
def entries() -> tuple[Entry, ...]:
    """Every rule that runs, trainlint's own first, by code."""
    return tuple(one for one in all_entries() if one.brought is None or one.brought.runs)


@of_the_rules
def left_out() -> Mapping[str, str]:
    """Code and name of each rule that is there, and does not run."""
    return {one.code: one.name for one in all_entries() if one.brought is not None and not one.brought.runs}


@of_the_rules
def all_entries() -> tuple[Entry, ...]:
    """Every rule, those that do not run too."""
    own = [Entry(file.parent) for file in sorted(FOLDER.glob("tl*/rule.py"))]
    others = [Entry(folder, one) for one in _brought for folder in rule_folders(Path(one.folder))]
    return (*own, *others)


def rule_folders(folder: Path) -> list[Path]:
    """The folders in it that are rules, by name."""
    return sorted(file.parent for file in folder.glob("*/rule.py") if FOLDER_NAME.fullmatch(file.parent.name))


def import_rules() -> None:
    """Import all of them now, and not when the first facts are there."""
    for entry in entries():
        with suppress(Exception):  # what is wrong with a rule is said where it is asked
            entry.rule  # noqa: B018
