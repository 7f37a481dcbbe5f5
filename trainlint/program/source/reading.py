"""Files as read: from the cache where an earlier run has read the same content, else from their bytes."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Problem
from trainlint.program.incremental.cache import Cache
from trainlint.program.incremental.project_files import Files
from trainlint.program.source import syntax as s
from trainlint.program.source.loading import load
from trainlint.project.bytes_on_disk import Contents


@dataclass(frozen=True)
class Read:
    """What is known of a file once it has been read; its module itself lies in the cache."""

    path: str
    key: str
    imports: tuple[str, ...]
    meaning: str = ""
    """A name for what its imports mean: the same text imports other files once there are others."""
    problem: Problem | None = None


def key(data: bytes, cache: Cache) -> str:
    """The name under which the cache keeps what follows from this content alone."""
    return cache.key([("", Contents({"": data}).hash(""))])


def read(path: str, data: bytes, cache: Cache, files: Files) -> tuple[Read, s.Module | None]:
    """What a file imports, and the file itself where it had to be read now. The cache is left as it is."""
    name = key(data, cache)
    imports, module = cache.load_imports(name), None
    if imports is None:
        loaded = load(path, data)
        if isinstance(loaded, Problem):
            return Read(path, name, (), problem=loaded), None
        module, imports = loaded, loaded.imports
    meaning = cache.key((target or "", "") for target in files.meant(path, imports))
    return Read(path, name, tuple(sorted(set(files.imported(path, imports)))), meaning), module


def look_for(found: Read, cache: Cache, files: Files) -> None:
    """Look for all that a file imports which has been kept: `files` then knows what is absent."""
    imports = cache.load_imports(found.key) or ()
    for _ in (*files.meant(found.path, imports), *files.imported(found.path, imports)):
        pass


def keep(found: Read, module: s.Module | None, cache: Cache) -> None:
    """Remember what had to be read now."""
    if module is not None:
        cache.save_module(found.key, module)
        cache.save_imports(found.key, module.imports)


def module(path: str, name: str, data: bytes, cache: Cache) -> s.Module | None:
    """A file that has been read, from the cache, or again where that does not have it."""
    found = cache.load_module(name) or load(path, data)
    return found if isinstance(found, s.Module) else None
