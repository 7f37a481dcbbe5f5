"""Findings that are known and left for later: an old code base is clean from today on, and pays back in its own time.

A baseline is a JSON file. Its entries hold no line numbers, so it survives edits elsewhere in a file; each entry
stands for as many findings as there were, so that one more of the same kind is still reported.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from trainlint.errors import UsageError
from trainlint.finding import Finding
from trainlint.output.fingerprint import Fingerprint, fingerprint
from trainlint.output.writing import write_file
from trainlint.project.source_texts import Lines

_VERSION = 1
_MAKE_IT = "create one with --write-baseline"


class Matched(NamedTuple):
    """What a baseline leaves to report, how many findings it held back, and the entries that it no longer needs."""

    new: list[Finding]
    known: int
    gone: int


@dataclass(frozen=True)
class Baseline:
    """How often each finding is known, by what it is known by. Paths start from the folder of the file."""

    file: Path
    counts: Mapping[Fingerprint, int]

    def matched(self, findings: Sequence[Finding], lines: Lines, read: Container[str]) -> Matched:
        """`findings` are all that there are; `read` are the files that were looked into."""
        left = Counter(self.counts)
        known = [fingerprint(one, self._path(one.at.path), lines(one.at)) for one in findings]
        taken = {number for number, one in enumerate(known) if _take(left, one)}
        loosely = _by_text(left)
        for number, one in enumerate(known):
            if number not in taken and loosely[one[:3]]:
                loosely[one[:3]] -= 1
                taken.add(number)
        gone = sum(count for (path, *_), count in loosely.items() if self._is_judged(path, read))
        new = [one for number, one in enumerate(findings) if number not in taken]
        return Matched(new, len(taken), gone)

    def rewritten(self, findings: Iterable[Finding], lines: Lines, read: Container[str]) -> Baseline:
        """A baseline of these findings, and of what this one knows of files that were not looked into."""
        elsewhere = Counter(
            {one: count for one, count in self.counts.items() if not self._is_judged(one.path, read)}
        )
        found = Counter(fingerprint(one, self._path(one.at.path), lines(one.at)) for one in findings)
        return Baseline(self.file, elsewhere | found)

    def write(self) -> None:
        """Raises UsageError if that cannot be done; the file is then as it was."""
        entries = [
            {**known._asdict(), **({"count": count} if count > 1 else {})}
            for known, count in sorted(self.counts.items())
        ]
        document = {"trainlint_baseline": _VERSION, "findings": entries}
        write_file(self.file, json.dumps(document, indent=1) + "\n")

    def _path(self, path: str) -> str:
        try:
            return os.path.relpath(path, self.file.absolute().parent).replace(os.sep, "/")
        except ValueError:  # on another drive
            return os.path.abspath(path).replace(os.sep, "/")

    def _is_judged(self, path: str, read: Container[str]) -> bool:
        """Whether this run can tell that an entry is of no more use: its file was read, or is no longer there."""
        from trainlint.project.files import shown_path

        at = os.path.join(self.file.absolute().parent, path)
        return shown_path(at) in read or not os.path.exists(at)


def read_baseline(file: Path) -> Baseline:
    """Raises UsageError for a file that is missing, damaged, or of another version of the format."""
    document = _document(file)
    version = document.get("trainlint_baseline")
    if version != _VERSION:
        raise UsageError(f"{file}: is a baseline of another version, {version!r}: {_MAKE_IT}")
    try:
        return Baseline(file, Counter(dict(_entries(document["findings"]))))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{file}: is a damaged baseline: remove it, and {_MAKE_IT}") from error


def baseline_to_write(file: Path) -> Baseline:
    """What is there already, or an empty one. Raises UsageError for a file that is something else."""
    if not file.exists():
        return Baseline(file, {})
    if _document(file)["trainlint_baseline"] != _VERSION:
        return Baseline(file, {})
    return read_baseline(file)


def _document(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{file}: the baseline does not exist: {_MAKE_IT}") from error
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: is not a baseline, or a damaged one: {error}") from error
    if not isinstance(document, dict) or "trainlint_baseline" not in document:
        raise UsageError(f"{file}: is not a baseline of trainlint")
    return document


def _entries(listed: Any) -> Iterator[tuple[Fingerprint, int]]:
    for one in listed:
        count = one.get("count", 1)
        known = Fingerprint(*(one[name] for name in Fingerprint._fields))
        if not isinstance(count, int) or count < 1 or not all(isinstance(part, str) for part in known):
            raise ValueError
        yield known, count


def _take(left: Counter[Fingerprint], known: Fingerprint) -> bool:
    """Use an entry up, if there is one left."""
    if left[known] < 1:
        return False
    left[known] -= 1
    return True


def _by_text(left: Mapping[Fingerprint, int]) -> Counter[tuple[str, ...]]:
    """What is left, without what stood around it: the lines beside a finding may have changed."""
    counts: Counter[tuple[str, ...]] = Counter()
    for known, count in left.items():
        counts[known[:3]] += count
    return counts
