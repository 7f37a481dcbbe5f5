"""Which files of a tree can have anything to do with training, from their bytes alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainlint import words
from trainlint.program.incremental.cache import Cache
from trainlint.program.incremental.project_files import Files
from trainlint.project.bytes_on_disk import Contents
from trainlint.project.soundness import parses

_IMPORT = re.compile(
    rb"(?:^|(?<=\r))[ \t]*(?:from[ \t]+(\.*)((?:\w[\w.]*)?)[ \t]+import\b|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)


_LIBRARIES = (b"torch", b"Tensor", b"transformers", b"accelerate", b"lightning", b"trl")
_OTHERS = (
    b"numpy",
    b"cupy",
    b"chainer",
    b"jittor",
    b"mindspore",
    b"mxnet",
    b"needle",
    b"paddle",
    b"tensorflow",
    b"tinygrad",
)
"""Libraries that have a `backward()` and a `step()` too, or with which people write their own."""


_IMPORTS_ANOTHER = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+(?:chainer|jittor|mindspore|mxnet|paddle)\b", re.MULTILINE
)
_NAMES_ONE = re.compile(rb"(?<![\w/-])(?:pytorch_)?(?:%s)" % b"|".join(_LIBRARIES))


def speaks_of_training(data: bytes) -> bool:
    """Whether a file names a library that training is written with; what clears gradients, steps after a backward pass,
    freezes parameters, or keeps a state and loads it, needs to name none."""
    names_one = names_a_library(data) or (b"zero_grad" in data and _IMPORTS_ANOTHER.search(data) is None)
    steps = b".backward(" in data and b".step(" in data
    freezes = b"requires_grad" in data
    restores = b".state_dict()" in data and b".load_state_dict(" in data
    is_enough = (steps or freezes or restores) and not any(word in data for word in _OTHERS)
    return (names_one or is_enough) and words.in_files().search(data) is not None


def names_a_library(data: bytes) -> bool:
    """Whether a file names a library that training is written with: beside another one, not only as a part of an address."""
    if not any(word in data for word in _LIBRARIES):
        return False
    return _IMPORTS_ANOTHER.search(data) is None or _NAMES_ONE.search(data) is not None


def imports(path: str, data: bytes, files: Files) -> set[str]:
    """The files that a file seems to import."""
    found = set()
    for dots, module, names in _IMPORT.findall(data):
        for name in names.decode().split(",") if names else (module.decode(),):
            level = len(dots)
            target = files.resolve(path, level, name.split(" as ")[0].strip())
            if target is not None:
                found.add(target)
    return found


def worth_reading(paths: Iterable[str], contents: Contents, files: Files) -> set[str]:
    """Files that speak of training, and those that import them, directly or not.

    Files that are only imported are looked at for those that name a library: a script may hand all that it makes to one.
    """
    importers: dict[str, set[str]] = {}
    wanted: set[str] = set()
    given = dict.fromkeys(paths)
    seen = set(given)
    looked_at = list(given)
    while looked_at:
        path = looked_at.pop()
        if not contents.hash(path):
            continue
        data = contents.get(path)
        if speaks_of_training(data):
            wanted.add(path)
            continue
        targets = imports(path, data, files)
        for target in targets:
            importers.setdefault(target, set()).add(path)
        if path not in given or names_a_library(data):
            looked_at.extend(targets - seen)
            seen |= targets
    pending = list(wanted)
    while pending:
        for importer in importers.get(pending.pop(), ()):
            if importer not in wanted:
                wanted.add(importer)
                pending.append(importer)
    return wanted


def unsound(paths: Iterable[str], contents: Contents, cache: Cache) -> set[str]:
    """Files that are not Python, as far as can be told quickly."""
    found = set()
    for path in paths:
        key = contents.hash(path)
        if key and not cache.knows("parses", key):
            if parses(contents.get(path)):
                cache.note("parses", key)
            else:
                found.add(path)
    return found
