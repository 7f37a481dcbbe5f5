"""Rules that a project or an installed package brings. They are code, and run only where somebody has said so.

A package runs because it was installed beside trainlint. What a project's configuration names in `rule-paths` may come
from anybody who has written to that project: it runs where the user asks for it, or has named the folder before.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from trainlint.errors import UsageError
from trainlint.rules import Brought, bring, rule_folders, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from trainlint.project.config import Config

GROUP = "trainlint.rules"
"""The group of entry points by which a package names a package of rules."""
TRUSTED = "TRAINLINT_OWN_RULES"
"""The environment variable that lists folders of projects whose own rules run, as PATH lists folders."""
_NAMED = re.compile(rb"^\[\s*trainlint\.rules\s*\]", re.MULTILINE)


def bring_rules(config: Config, *, run: bool | None) -> None:
    """From now on there are the rules of installed packages, and those that a configuration names.

    Args:
        run: whether the latter run, or are left out. None leaves it to the environment.

    Raises UsageError for folders that are no rules, and for rules of which nobody has said whether they run.
    """
    if config.rule_paths and run is None and not is_trusted(config.root):
        listed = ", ".join(map(shown, config.rule_paths))
        raise UsageError(
            f"{shown(config.file or config.root)}: `rule-paths` names rules in {listed}, which is code that a check "
            "would run: --own-rules runs it, --no-own-rules leaves it out"
        )
    bring((*installed(), *of_project(config, run=run is not False)))


def of_project(config: Config, *, run: bool) -> Iterator[Brought]:
    """The folders of rules that a configuration names. Raises UsageError for what is none."""
    for folder in config.rule_paths:
        if not rule_folders(folder):
            raise UsageError(
                f"{shown(config.file or config.root)}: `rule-paths`: there is no rule in {shown(folder)}; a rule is a "
                "folder such as acme101_my_rule that holds a rule.py"
            )
        yield of_folder(folder, shown(config.file or config.root), runs=run)


def is_trusted(root: Path) -> bool:
    """Whether the environment says that the own rules of a project run."""
    trusted = (os.path.realpath(one) for one in os.environ.get(TRUSTED, "").split(os.pathsep) if one)
    here = os.path.realpath(root)
    return any(os.path.commonpath([one, here]) == one for one in trusted if _same_drive(one, here))


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0] == os.path.splitdrive(other)[0]


def installed() -> Iterator[Brought]:
    """The folders of rules of installed packages. Raises UsageError for one that is not there."""
    for point, package in entry_points():
        folder = _folder_of(point.value)
        if folder is None or not rule_folders(folder):
            raise UsageError(
                f"the package {package} names {point.value} as its rules, and there are none: uninstall it, or mend it"
            )
        yield of_folder(folder, package, runs=True)


def entry_points() -> list[tuple[EntryPoint, str]]:
    """What installed packages name as rules, each with the package and its version.

    Only folders of installed packages are looked at, never the working directory.
    """
    found = []
    for path in sorted(_that_name_rules()):
        from importlib.metadata import Distribution

        package = Distribution.at(path)
        for point in package.entry_points.select(group=GROUP):
            found.append((point, f"{package.metadata['Name']} {package.version}"))
    return found


def _that_name_rules() -> Iterator[str]:
    """The metadata of packages in which the group stands: looked up in bytes, as every command pays for it."""
    for folder in site_folders():
        try:
            names = [one for one in os.listdir(folder) if one.endswith(".dist-info")]
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                    content = file.read()
            except OSError:
                continue
            if _NAMED.search(content):
                yield os.path.join(folder, name)


def site_folders() -> list[str]:
    """Where packages are installed that this Python imports."""
    of_user = sysconfig.get_path("purelib", sysconfig.get_preferred_scheme("user"))
    own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), of_user}
    return [one for one in dict.fromkeys(sys.path) if one in own]


def _folder_of(package: str) -> Path | None:
    """Where a package is, without importing anything."""
    from importlib.machinery import PathFinder

    where: list[str] | None = [one for one in sys.path if one and one != os.getcwd()]
    for part in package.split("."):
        spec = PathFinder.find_spec(part, where)
        where = list(spec.submodule_search_locations or ()) if spec is not None else None
        if not where:
            return None
    return Path(where[0]) if where else None


def of_folder(folder: Path, origin: str, *, runs: bool = True) -> Brought:
    """A folder of rules, as it is now."""
    return Brought(str(folder), origin, _content(folder), runs)


def _content(folder: Path) -> str:
    """A name for all the code in a folder."""
    digest = blake2b(digest_size=8)
    for file in sorted(folder.rglob("*.py")):
        try:
            text = file.read_bytes()
        except OSError:
            continue
        digest.update(f"{file.relative_to(folder).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()
