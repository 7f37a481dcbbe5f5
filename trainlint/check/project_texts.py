"""The texts of a whole project, of which few are looked at closely."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from trainlint.check.naming import module_name, names, what_runs

_LOOKS_UP = re.compile(
    rb"attr\(|attrgetter\(|methodcaller\(|getmembers\(|\bdir\(|vars\(|import_module\(|globals\(|locals\(|\bfire\b|__dict__"
)


class ProjectTexts(Mapping[str, bytes]):
    """What stands in the files of a project by their paths; of Python, what runs.

    To say what of a file runs takes parsing it, so that is left until somebody asks for it.
    """

    def __init__(self, written: Mapping[str, bytes]) -> None:
        self._written = written
        self._running: dict[str, bytes] = {}
        self._modules: dict[str, list[str]] = {}
        for path in written:
            if path.endswith(".py"):
                self._modules.setdefault(module_name(path), []).append(path)

    def __getitem__(self, path: str) -> bytes:
        if not path.endswith(".py"):
            return self._written[path]
        if path not in self._running:
            self._running[path] = what_runs(self._written[path])
        return self._running[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def where(self, holds: Callable[[str, bytes], bool]) -> Iterator[tuple[str, bytes]]:
        """The files of which something holds that can only hold of what runs if it holds of all that is written, as that a
        word stands there."""
        for path, written in self._written.items():
            if holds(path, written) and holds(path, text := self[path]):
                yield path, text

    def copies(self, path: str) -> Sequence[str]:
        """The Python files that are imported under the name of this one, itself among them."""
        return self._modules.get(module_name(path), ())

    def naming(self, word: bytes) -> Iterator[tuple[str, bytes]]:
        """The files in which a word stands."""
        return self.where(lambda path, text: names(text, word))

    def looking_up(self) -> Iterator[bytes]:
        """The Python that may look up by a name what a module or an object has."""
        found = self.where(lambda path, text: path.endswith(".py") and _LOOKS_UP.search(text) is not None)
        return (text for _, text in found)
