"""The files of a program and how they import each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from trainlint.program.source import syntax as s
from trainlint.program.source.outline import Outline
from trainlint.project.absent import Absent, names_in

EXTERNAL = frozenset(
    ("torch", "numpy", "torchvision", "typing", "os", "sys", "math", "random", "copy", "dataclasses")
)
_MAX_CLIMB = 8


class Files:
    """Finds the file that an import means, among the files of a program and those beside them on disk."""

    def __init__(self, known: Mapping[str, object] | None = None) -> None:
        self._known = known or {}
        self._exists: dict[str, bool] = {}
        self._listed: dict[str, frozenset[str]] = {}
        self._starts: dict[str, tuple[str, ...]] = {}
        self._resolved: dict[tuple[str, int, str], str | None] = {}
        self._missed: dict[str, set[str]] = {}

    @property
    def absent(self) -> tuple[Absent, ...]:
        """What has been looked for so far and is not there."""
        return tuple((folder, tuple(sorted(names))) for folder, names in sorted(self._missed.items()))

    def resolve(self, path: str, level: int, module: str) -> str | None:
        """The file of `module` as imported in the file `path`, `level` dots before it; None if a library's."""
        asked = (os.path.dirname(path), level, module)
        if asked not in self._resolved:
            self._resolved[asked] = self._resolve(*asked)
        return self._resolved[asked]

    def _resolve(self, folder: str, level: int, module: str) -> str | None:
        parts = module.split(".") if module else []
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._file(folder, parts)
        if not parts or parts[0] in EXTERNAL:
            return None
        for start in self._search_path(folder):
            found = self._file(start, parts)
            if found is not None:
                return found
        return None

    def submodule(self, path: str, name: str) -> str | None:
        """The file of `name` in the package whose `__init__` is `path`."""
        if os.path.basename(path) != "__init__.py":
            return None
        return self._file(os.path.dirname(path), [name])

    def imported(self, path: str, imports: Iterable[tuple[int, str, tuple[str, ...]]]) -> Iterator[str]:
        """Every file that the module in `path` imports directly."""
        for level, name, names in imports:
            found = self.resolve(path, level, name)
            if found is not None:
                yield found
            for one in names:
                inner = self._inside(path, level, name, found, one)
                if inner is not None:
                    yield inner

    def _inside(self, path: str, level: int, module: str, found: str | None, name: str) -> str | None:
        """The file of a name that is imported from a package; one without `__init__.py` has no file of its own."""
        if found is not None:
            return self.submodule(found, name)
        return self.resolve(path, level, f"{module}.{name}".strip("."))

    def meant(self, path: str, imports: Iterable[tuple[int, str, tuple[str, ...]]]) -> Iterator[str | None]:
        """All that evaluating a file may ask about its imports; None for what is not part of the program."""
        for level, name, names in imports:
            found = self.resolve(path, level, name)
            yield found
            if "." in name and not level:
                yield self.resolve(path, 0, name.partition(".")[0])
            if found is None:
                for one in names:
                    yield self._inside(path, level, name, found, one)

    def _search_path(self, folder: str) -> tuple[str, ...]:
        """Where Python may look: beside the file, then up to the root of the checkout."""
        if folder not in self._starts:
            found = [folder]
            current = folder
            for _ in range(_MAX_CLIMB):
                if self._is_file(os.path.join(current, ".git")) or not current:
                    break
                parent = os.path.dirname(current)
                if parent == current:
                    break
                current = parent
                found.append(current)
            found += [os.path.join(one, "src") for one in found]
            self._starts[folder] = tuple(found)
        return self._starts[folder]

    def _file(self, folder: str, parts: list[str]) -> str | None:
        base = os.path.join(folder, *parts)
        candidates = [os.path.join(base, "__init__.py")]
        if parts:
            candidates.insert(0, base + ".py")
        for candidate in candidates:
            if candidate in self._known:
                return candidate
        if parts and self._names(folder).isdisjoint((parts[0], parts[0] + ".py")):
            self._missed.setdefault(folder, set()).update((parts[0], parts[0] + ".py"))
            return None
        for candidate in candidates:
            if self._is_file(candidate):
                return candidate
            holder, name = os.path.split(candidate)
            self._missed.setdefault(holder, set()).add(name)
        return None

    def _names(self, folder: str) -> frozenset[str]:
        """What a folder holds: most imports are of libraries, and one look at it tells that."""
        if folder not in self._listed:
            self._listed[folder] = names_in(folder)
        return self._listed[folder]

    def _is_file(self, path: str) -> bool:
        if path not in self._exists:
            self._exists[path] = os.path.exists(path)
        return self._exists[path]


class Project:
    """A whole program: its modules as read, by file, and what they look like from outside."""

    def __init__(
        self,
        modules: Mapping[str, s.Module],
        outlines: Mapping[str, Outline],
        forget_code: Callable[[], None] = lambda: None,
    ) -> None:
        """Args:
        forget_code: drops the bodies of functions that can be read again.
        """
        self.modules = modules
        self.forget_code = forget_code
        self.outlines = outlines
        self._files = Files(modules)
        self._names: dict[str, frozenset[str]] = {}

    def module(self, path: str, level: int, name: str) -> str | None:
        """The file of a module as imported in the file `path`; None if it is not part of the program."""
        return self._part(self._files.resolve(path, level, name))

    def submodule(self, path: str, name: str) -> str | None:
        """The file of `name` in the package whose `__init__` is `path`; None if it is not part of the program."""
        return self._part(self._files.submodule(path, name))

    def names(self, path: str) -> frozenset[str]:
        """What a star import of a file binds, as its text says."""
        if path not in self._names:
            files, pending = {path}, [path]
            while pending:
                one = pending.pop()
                for level, name in self.outlines[one].stars:
                    target = self.module(one, level, name)
                    if target is not None and target not in files:
                        files.add(target)
                        pending.append(target)
            self._names[path] = frozenset().union(*(self.outlines[one].binds for one in files))
        return self._names[path]

    @cached_property
    def reads(self) -> frozenset[str]:
        """Every attribute that any module of the program reads."""
        return frozenset().union(*(outline.reads for outline in self.outlines.values()))

    @cached_property
    def frameworks(self) -> tuple[str, ...]:
        """Folders of packages that define a `Tensor` of their own: small autograd frameworks."""
        found = set()
        for path, outline in self.outlines.items():
            if outline.has_tensor:
                folder = os.path.dirname(path)
                while os.path.join(os.path.dirname(folder), "__init__.py") in self.outlines:
                    folder = os.path.dirname(folder)
                if os.path.join(folder, "__init__.py") in self.outlines:
                    found.add(folder + os.sep)
        return tuple(sorted(found))

    def is_of_framework(self, path: str) -> bool:
        """Whether a file is part of a small autograd framework: its tensors need not be torch's."""
        return path.startswith(self.frameworks)

    def is_library_code(self, path: str, caller: str) -> bool:
        """Whether a function in `path` belongs to a small autograd framework that `caller` only uses.

        What such code does to its tensors is how it works, not what is wrong with the program.
        """
        return any(path.startswith(one) and not caller.startswith(one) for one in self.frameworks)

    def _part(self, file: str | None) -> str | None:
        return file if file in self.modules else None
