"""What earlier runs have found out, by the content of the files that it follows from.

Everything is written to a temporary file and renamed, so that runs side by side cannot hurt each other.
An entry that cannot be read is an entry that is not there.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainlint.cache.folder import mark, tidy
from trainlint.finding import Finding, Problem
from trainlint.program.incremental.version import version
from trainlint.project.absent import Absent
from trainlint.reached import Reached

if TYPE_CHECKING:
    from trainlint.program.incremental.results import Account
    from trainlint.program.source.syntax import Module

_SEAL = 16
"""Bytes before a module that tell whether it is as it was written: parts of it are looked at only later."""
Import = tuple[int, str, tuple[str, ...]]
"""An import statement: its leading dots, the module, the names."""


@dataclass(frozen=True)
class Checked:
    """What was found in some files, and the fingerprints of other files that it also follows from."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    also_read: tuple[tuple[str, str], ...] = ()
    absent: tuple[Absent, ...] = ()
    """Files that it follows from that they are not there."""
    limited: tuple[Reached, ...] = ()
    """Limits that were reached."""
    imported: tuple[Finding, ...] = ()
    """What was found that has to do with none of the files, but lies in files that they import."""
    entry_points: int = 0
    """How many bodies of files and functions were entered on their own."""
    not_here: tuple[str, ...] = ()
    """Files that another part of a check judges."""


class Cache:
    """Entries in a folder; without a folder, nothing is kept and nothing is found."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder / version(folder) if folder is not None else None

    @property
    def folder(self) -> Path | None:
        """Where this version's entries are; its name changes with trainlint itself."""
        return self._folder

    @property
    def lasts(self) -> bool:
        """Whether what is kept now is there for later runs."""
        return self._folder is not None

    @staticmethod
    def key(fingerprints: Iterable[tuple[str, str]]) -> str:
        """One name for a set of files with these contents."""
        digest = blake2b(digest_size=16)
        for path, content in fingerprints:
            digest.update(f"{path}\0{content}\0".encode(errors="surrogatepass"))
        return digest.hexdigest()

    def load_findings(self, kind: str, key: str) -> Checked | None:
        data = self._load(kind, key)
        if data is None:
            return None
        try:
            return _checked(json.loads(data))
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def save_findings(self, kind: str, key: str, checked: Checked) -> None:
        if self._folder is not None:
            self._save(kind, key, json.dumps(asdict(checked)).encode(errors="surrogatepass"))

    def load_module(self, key: str) -> Module | None:
        data = self._load("modules", key)
        if data is None or data[:_SEAL] != _seal(data[_SEAL:]):
            return None
        from trainlint.program.source.storage import Corrupt, unpacked

        try:
            return unpacked(data[_SEAL:])
        except Corrupt:
            return None

    def has_module(self, key: str) -> bool:
        """Whether there is an entry, which may be damaged."""
        return self._folder is not None and (self._folder / "modules" / key).exists()

    def save_module(self, key: str, module: Module) -> None:
        if self._folder is not None:
            from trainlint.program.source.storage import packed

            with contextlib.suppress(RecursionError):  # one that nests too deeply is read again each time
                data = packed(module)
                self._save("modules", key, _seal(data) + data)

    def load_imports(self, key: str) -> tuple[Import, ...] | None:
        """What a module imports, where the module itself is kept too."""
        if not self.has_module(key):
            return None
        try:
            found = json.loads(self._load("imports", key) or b"")
            return tuple((int(level), str(module), tuple(map(str, names))) for level, module, names in found)
        except (ValueError, TypeError, RecursionError):
            return None

    def save_imports(self, key: str, imports: tuple[Import, ...]) -> None:
        self._save("imports", key, json.dumps(imports).encode(errors="surrogatepass"))

    def load_account(self, key: str) -> Account | None:
        """What is known of the entry points of some files, whatever is in those now."""
        data = self._load("accounts", key)
        if data is None:
            return None
        from trainlint.program.incremental.account_text import DAMAGED, unpacked

        try:
            return unpacked(data)
        except DAMAGED:
            return None

    def save_account(self, key: str, account: Account) -> None:
        if self._folder is not None:
            from trainlint.program.incremental.account_text import packed

            self._save("accounts", key, packed(account))

    def knows(self, kind: str, key: str) -> bool:
        """Whether `note` was called for this in an earlier run."""
        return self._load(kind, key) is not None

    def note(self, kind: str, key: str) -> None:
        """Remember a plain fact about some content."""
        self._save(kind, key, b"")

    def tidy(self) -> None:
        """Keep the folder small."""
        if self._folder is not None:
            tidy(self._folder.parent)

    def _load(self, kind: str, key: str) -> bytes | None:
        if self._folder is None:
            return None
        path = self._folder / kind / key
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return data

    def _save(self, kind: str, key: str, data: bytes) -> None:
        if self._folder is None:
            return
        folder = self._folder / kind
        temporary = folder / f".{key}.{os.getpid()}"
        try:
            if not self._folder.parent.exists():
                mark(self._folder.parent)
            folder.mkdir(parents=True, exist_ok=True)
            with open(temporary, "xb") as file:  # never through a link that somebody has put there
                file.write(data)
            temporary.replace(folder / key)
        except OSError:  # a full disk, a read-only tree: the next run does the work again
            with contextlib.suppress(OSError):
                temporary.unlink()


def _seal(data: bytes) -> bytes:
    return blake2b(data, digest_size=_SEAL).digest()


def _checked(data: dict[str, Any]) -> Checked:
    return Checked(
        findings=tuple(Finding.restored(one) for one in data["findings"]),
        problems=tuple(Problem(*one) for one in data["problems"]),
        also_read=tuple((path, known) for path, known in data["also_read"]),
        absent=tuple((folder, tuple(names)) for folder, names in data["absent"]),
        limited=tuple(Reached(**one) for one in data["limited"]),
        imported=tuple(Finding.restored(one) for one in data["imported"]),
        entry_points=int(data["entry_points"]),
        not_here=tuple(map(str, data["not_here"])),
    )


class InProcess(Cache):
    """What was found in whole programs, for as long as the process lives: tests record many steps of the same files."""

    def __init__(self) -> None:
        super().__init__(None)
        self._kept: dict[str, Checked] = {}

    def load_findings(self, kind: str, key: str) -> Checked | None:
        return self._kept.get(key) if kind == "programs" else None

    def save_findings(self, kind: str, key: str, checked: Checked) -> None:
        if kind == "programs":
            self._kept[key] = checked
