"""What has changed since a commit, as git tells it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainlint.errors import UsageError
from trainlint.finding import Place

_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_SECTION = re.compile(rb"^diff --git ", re.MULTILINE)
_DIFF = (
    "diff --no-ext-diff --no-textconv --no-color --no-relative --ignore-submodules=all --text -M"
).split()
_PATCH = ("-U0", "--inter-hunk-context=0")
_OF_HOOKS = frozenset(
    ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS")
)
_WHOLE = range(1, 1 << 62)


@dataclass(frozen=True)
class Changed:
    """The lines of each file that are new or stand beside something that was removed."""

    lines: Mapping[str, tuple[range, ...]]
    """By absolute path."""

    def touches(self, places: Iterable[Place]) -> bool:
        """Whether one of these places lies in a change."""
        return any(self._has(place) for place in places)

    def has_file(self, path: str) -> bool:
        return _absolute(path) in self.lines

    def _has(self, place: Place) -> bool:
        changed = self.lines.get(_absolute(place.path), ())
        return any(place.line < lines.stop and lines.start <= place.end_line for lines in changed)


def changed_since(revision: str, folder: Path) -> Changed:
    """What differs between a revision and the files on disk, and what git does not know yet.

    Args:
        revision: a commit, or `main...` for the point where this branch has left main.
        folder: any folder of the repository.

    Raises UsageError outside of a repository, without git, and for an unknown revision.
    """
    root = _root(folder)
    commit = _commit(root, revision)
    listed = _git(root, *_DIFF, "--raw", "-z", "--no-abbrev", "--diff-filter=AMRT", commit).split(b"\0")
    lines: dict[str, tuple[range, ...]] = {}
    patched = []
    for status, name in _named(iter(listed)):
        if status in "MR":
            patched.append(name)
        else:
            lines[_below(root, name)] = (_WHOLE,)
    patch = _git(root, *_DIFF, *_PATCH, "--diff-filter=MR", commit) if patched else b""
    for name, section in zip(patched, _SECTION.split(patch)[1:], strict=True):
        lines[_below(root, name)] = tuple(_hunks(section))
    for name in _git(root, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
        if name:
            lines[_below(root, name)] = (_WHOLE,)
    return Changed(lines)


class _Refused(UsageError):
    """What git says when it does not do as it is told."""


def _root(folder: Path) -> Path:
    try:
        return Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))
    except _Refused as error:
        if "not a git repository" in str(error):
            raise UsageError(f"--changed-only needs a git repository, but {folder} is not in one") from error
        raise


def _commit(root: Path, revision: str) -> str:
    """The name of a commit, or of the empty tree where nothing is committed yet."""
    first, dots, second = revision.partition("...")
    if dots:
        ends = [_resolved(root, one or "HEAD", revision) for one in (first, second)]
        try:
            return _git(root, "merge-base", *ends).decode().strip()
        except _Refused as error:
            raise UsageError(f"--changed-only: `{revision}` has no common ancestor") from error
    if revision == "HEAD" and not _try(root, "rev-parse", "--verify", "--quiet", "HEAD"):
        return _git(root, "hash-object", "-t", "tree", os.devnull).decode().strip()
    return _resolved(root, revision, revision)


def _resolved(root: Path, revision: str, given: str) -> str:
    found = _try(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not found:
        raise UsageError(f"--changed-only: git does not know the revision `{given}`")
    return found.decode().strip()


def _named(listed: Iterator[bytes]) -> Iterator[tuple[str, bytes]]:
    """Each file that `git diff --raw -z` lists, with the letter of what happened to it."""
    for entry in listed:
        if entry:
            status = entry.rsplit(b" ", 1)[1][:1].decode()
            name = next(listed)
            yield status, next(listed) if status == "R" else name


def _hunks(section: bytes) -> Iterator[range]:
    """The new lines of one file; where lines were only removed, the two between which they stood."""
    for hunk in _HUNK.finditer(section):
        start, count = int(hunk[1]), int(hunk[2] or b"1")
        yield range(start, start + count) if count else range(start, start + 2)


def _below(root: Path, name: bytes) -> str:
    return _absolute(os.path.join(root, os.fsdecode(name)))


def _absolute(path: str) -> str:
    return os.path.realpath(path)


def _try(folder: Path, *arguments: str) -> bytes:
    """What git says; nothing where it fails."""
    try:
        return _git(folder, *arguments)
    except _Refused:
        return b""


def _surroundings() -> dict[str, str]:
    """Without what git tells its hooks: a folder speaks for itself."""
    return {name: value for name, value in os.environ.items() if name not in _OF_HOOKS} | {"LC_ALL": "C"}


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        ran = subprocess.run(
            ["git", *arguments], cwd=folder, env=_surroundings(), capture_output=True, check=False
        )
    except FileNotFoundError as error:
        raise UsageError("--changed-only needs git, which is not on the PATH") from error
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip().splitlines()
        raise _Refused(f"--changed-only: git says: {said[-1] if said else 'nothing'}")
    return ran.stdout
