"""The texts of a whole project, of which few are looked at closely."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from trainlint.check.naming import names, what_runs


class ProjectTexts(Mapping[str, bytes]):
    """What stands in the files of a project by their paths; of Python, what runs.

    To say what of a file runs takes parsing it, so that is left until somebody asks for it.
    """

    def __init__(self, written: Mapping[str, bytes]) -> None:
        self._written = written
        self._running: dict[str, bytes] = {}

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

    def naming(self, word: bytes) -> Iterator[tuple[str, bytes]]:
        """The files in which a word stands."""
        return self.where(lambda path, text: names(text, word))

    def code_with(self, *parts: bytes) -> Iterator[bytes]:
        """The Python in which one of some strings stands."""
        found = self.where(lambda path, text: path.endswith(".py") and any(one in text for one in parts))
        return (text for _, text in found)
