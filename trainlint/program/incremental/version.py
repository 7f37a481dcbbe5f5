"""The name of this trainlint, under which a cache keeps what it has found out."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from trainlint.cache.folder import mark
from trainlint.rules import brought, of_the_rules

_HERE = Path(__file__).parents[2]
_NAME = re.compile(r"[0-9a-f]{16}")


@of_the_rules
def _versions() -> dict[str, str]:
    """The name of this trainlint by the folder of the cache in which it was looked up."""
    return {}


def version(folder: Path) -> str:
    """A name for this trainlint, all rules and this Python: any change of them makes a new one.

    It follows from what is in the files alone, so that a cache is good on other machines. To read them all takes a while,
    so the folder remembers what came out for files of these times and sizes.
    """
    known = _versions()
    if str(folder) not in known:
        memory = folder / _state() / "names" / ("0" * 32)
        found = _remembered(memory)
        if found is None:
            found = _content()
            _remember(memory, found)
        known[str(folder)] = found
    return known[str(folder)]


def _remembered(memory: Path) -> str | None:
    try:
        text = memory.read_text()
        os.utime(memory)
    except (OSError, ValueError):
        return None
    return text if _NAME.fullmatch(text) else None


def _remember(memory: Path, name: str) -> None:
    temporary = memory.with_name(f".{memory.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        if not memory.parents[2].exists():
            mark(memory.parents[2])
        memory.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "x") as file:
            file.write(name)
        temporary.replace(memory)


def _state() -> str:
    """Changes with the time or the size of any file of trainlint, and with the rules of others."""
    digest = blake2b(sys.version.encode(), digest_size=8)
    for file, _ in _own_files():
        status = os.stat(file)
        digest.update(f"{file} {status.st_mtime_ns} {status.st_size}\n".encode(errors="surrogatepass"))
    digest.update(_others().encode())
    return digest.hexdigest()


def _content() -> str:
    """Changes with the content of any file of trainlint, with the rules of others, and with Python's version."""
    python = (sys.implementation.name, *sys.version_info)
    digest = blake2b(repr(python).encode(), digest_size=8)
    for file, name in _own_files():
        digest.update(f"{name}\n".encode())
        digest.update(blake2b(Path(file).read_bytes()).digest())
    digest.update(_others().encode())
    return digest.hexdigest()


def _own_files() -> Iterator[tuple[str, str]]:
    """The Python files of trainlint and its rules, each with its name from there, in a fixed order."""
    rules = next(folder for folder in (_HERE / "rules", _HERE.parent / "rules") if folder.is_dir())
    for folder in (_HERE, rules):
        for root, folders, files in os.walk(folder):
            folders[:] = sorted(
                one for one in folders if one != "__pycache__" and os.path.join(root, one) != str(rules)
            )
            inside = os.path.relpath(root, folder).replace(os.sep, "/")
            for name in sorted(files):
                if name.endswith(".py"):
                    yield os.path.join(root, name), f"{folder.name}/{inside}/{name}"


def _others() -> str:
    return "".join(f"{one.content}\n" for one in brought() if one.runs)
