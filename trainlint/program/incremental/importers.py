"""Which files of a project import others, as far as their bytes show it: without them, half of a program is missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from trainlint.program.incremental.project_files import Files
from trainlint.superseded import is_still_wanted

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<module>[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\r\n]*)"
    rb"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(r"[^\W\d]\w*")
Read = Callable[[str], bytes]


class Graph:
    """What the files of one folder import; of a file that changes, again."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = frozenset(files)
        self._finder = Files(dict.fromkeys(files))
        self._imports: dict[str, tuple[bytes, set[str]]] = {}

    def around(self, paths: Iterable[str], read: Read) -> set[str]:
        """These files, those that import them, and all that any of them imports."""
        found: set[str] = set()
        pending = [one for wave in self.importing(paths, read) for one in wave]
        while pending:
            path = pending.pop()
            if path not in found:
                found.add(path)
                pending.extend(self.imported(path, read))
        return found

    def importing(self, paths: Iterable[str], read: Read) -> Iterator[set[str]]:
        """These files, then those that import them directly, then those that import these."""
        found: set[str] = set()
        wave = set(paths)
        while wave:
            yield wave
            found |= wave
            names = {_as_written(path) for path in wave}
            wave = {
                one
                for one in self.files - found
                if _names_one(one, names, read) and not wave.isdisjoint(self.imported(one, read))
            }

    def imported(self, path: str, read: Read) -> set[str]:
        """The files that a file imports directly."""
        try:
            data = read(path)
        except OSError:
            return set()
        known = self._imports.get(path)
        if known is None or known[0] is not data:
            is_still_wanted()
            known = self._imports[path] = data, set(self._finder.imported(path, _imports(data)))
        return known[1]


def _as_written(path: str) -> bytes:
    """What a file has to hold that imports this one."""
    name = os.path.splitext(os.path.basename(path))[0]
    return b"import" if name == "__init__" else os.fsencode(name)


def _names_one(path: str, names: Iterable[bytes], read: Read) -> bool:
    try:
        data = read(path)
    except OSError:
        return False
    return any(name in data for name in names)


def _imports(data: bytes) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """What looks like an import statement: level, module, names."""
    for match in _IMPORT.finditer(data.replace(b"\r", b"\n")):
        if match["modules"] is None:
            names = match["names"].decode(errors="replace")
            yield len(match["dots"]), match["module"].decode(errors="replace"), tuple(_NAME.findall(names))
        else:
            for one in match["modules"].decode(errors="replace").split(","):
                yield 0, one.split(" as ")[0].strip(), ()
