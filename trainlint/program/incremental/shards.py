"""Parts of a check that several machines share: what belongs together is judged by one of them, and by no other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from trainlint.errors import UsageError

_WRITTEN = re.compile(r"(\d{1,4})/(\d{1,4})")


class Shard(NamedTuple):
    """One of so many parts, from 1."""

    number: int
    of: int

    @property
    def name(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, path: str) -> bool:
        """Whether a file that belongs to no group is in this part."""
        digest = blake2b(path.encode(errors="surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.of == self.number - 1

    def groups(self, every: Sequence[list[str]], size: Callable[[str], int]) -> list[list[str]]:
        """The groups of this part: the largest first, each to the part that has the least by then."""
        loads = [0] * self.of
        own = []
        sized = [(sum(map(size, group)), sorted(group), group) for group in every]
        for weight, _, group in sorted(sized, key=lambda one: (-one[0], one[1])):
            least = loads.index(min(loads))
            loads[least] += max(weight, 1)
            if least == self.number - 1:
                own.append(group)
        return own

    def not_here(
        self, paths: Iterable[str], every: Sequence[list[str]], own: Sequence[list[str]]
    ) -> set[str]:
        """Those of the files that belong to another part."""
        grouped = {path for group in every for path in group}
        mine = {path for group in own for path in group}
        return {path for path in paths if not (path in mine if path in grouped else self.has(path))}


def shard(text: str) -> Shard:
    """`2/5` as it is written on a command line. Raises UsageError."""
    found = _WRITTEN.fullmatch(text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard {text}: write which part of how many, such as 2/5")
    return Shard(int(found[1]), int(found[2]))
