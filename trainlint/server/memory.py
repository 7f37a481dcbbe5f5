"""What a server keeps in memory between checks: files as read, findings, accounts. Unsaved text never reaches a disk."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

from trainlint.program.incremental.cache import Cache, Checked, Import
from trainlint.project.bytes_on_disk import Contents

if TYPE_CHECKING:
    from trainlint.program.incremental.results import Account
    from trainlint.program.source.syntax import Module

_MOST = {"modules": 1_000, "imports": 10_000, "parses": 10_000, "accounts": 20, "groups": 200}
"""How many entries of a kind are kept. What has not been used for the longest time goes."""


class Memory(Cache):
    """A cache whose entries are the objects themselves."""

    def __init__(self) -> None:
        super().__init__(None)
        self._kept: dict[str, OrderedDict[str, Any]] = {kind: OrderedDict() for kind in _MOST}

    @property
    def lasts(self) -> bool:
        return True

    def load_findings(self, kind: str, key: str) -> Checked | None:
        found: Checked | None = self._get(kind, key)
        return found

    def save_findings(self, kind: str, key: str, checked: Checked) -> None:
        self._put(kind, key, checked)

    def load_module(self, key: str) -> Module | None:
        found: Module | None = self._get("modules", key)
        return found

    def save_module(self, key: str, module: Module) -> None:
        self._put("modules", key, module)

    def load_imports(self, key: str) -> tuple[Import, ...] | None:
        found: tuple[Import, ...] | None = self._get("imports", key)
        return found if key in self._kept["modules"] else None

    def save_imports(self, key: str, imports: tuple[Import, ...]) -> None:
        self._put("imports", key, imports)

    def load_account(self, key: str) -> Account | None:
        found: Account | None = self._get("accounts", key)
        return found

    def save_account(self, key: str, account: Account) -> None:
        self._put("accounts", key, account)

    def knows(self, kind: str, key: str) -> bool:
        return self._get(kind, key) is not None

    def note(self, kind: str, key: str) -> None:
        self._put(kind, key, True)

    def _get(self, kind: str, key: str) -> Any:
        kept = self._kept[kind]
        if key in kept:
            kept.move_to_end(key)
        return kept.get(key)

    def _put(self, kind: str, key: str, value: object) -> None:
        kept = self._kept[kind]
        kept[key] = value
        kept.move_to_end(key)
        while len(kept) > _MOST[kind]:
            kept.popitem(last=False)


class Disk:
    """The bytes of files, read again only when their time or size has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int, int], bytes]] = {}

    def read(self, path: str) -> bytes:
        """Raises OSError where the file cannot be read."""
        status = os.stat(path)
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._known.get(path)
        if known is None or known[0] != state:
            self._known[path] = known = state, Contents({}).get(path)
        return known[1]


class Overlaid(Contents):
    """Files as they stand in the editor, and for the rest as they are on disk.

    Args:
        within: what can be read; None for everything.
    """

    def __init__(self, given: Mapping[str, bytes], disk: Disk, within: Container[str] | None = None) -> None:
        super().__init__(given)
        self._disk = disk
        self._within = within

    def get(self, path: str) -> bytes:
        if self._within is not None and path not in self._within:
            raise OSError("not looked at")
        if path not in self._bytes:
            self._bytes[path] = self._disk.read(path)
        return self._bytes[path]
