"""A rule's page: its sections, and its examples.

A line `# file: models/net.py` in an example begins another file of the same program; `# todo: no error` marks a known
miss, which is not found, so that mending it changes the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainlint.rule_tests.marks import page_marks
from trainlint.rules import Entry

FIX = "Fix"
"""The section about what `--fix` does, after `Instead`: one of the examples, fixed."""
_SECTIONS = ("Why is this bad?", "Example", "Instead", "When it stays silent", "Known misses", "Source")
_WITH_EXAMPLES = ("Example", "Instead", "When it stays silent", "Known misses")
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^# file: (\S+)\n", re.MULTILINE)
_TODO = re.compile(r"# todo: no error$", re.MULTILINE)


class Block(NamedTuple):
    """One Python example of a page: the rule, the section and the line it stands in, and its text."""

    entry: Entry
    section: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.entry.code}-line{self.line}"

    def files(self) -> Iterator[tuple[str, str]]:
        """Names and texts of its files."""
        first, *rest = _FILE.split(self.text)
        if first.strip():
            yield "page.py", first
        yield from zip(rest[::2], rest[1::2], strict=True)


def blocks(entry: Entry) -> Iterator[Block]:
    """The examples of a rule's page."""
    for found in _BLOCK.finditer(entry.page):
        before = entry.page[: found.start()]
        section = before.rpartition("\n## ")[2].partition("\n")[0]
        yield Block(entry, section, before.count("\n") + 1, found[1])


def wrong_with_page(entry: Entry) -> Iterator[str]:
    """What a page lacks that a reader needs."""
    title = f"# {entry.code} {entry.name}"
    if not entry.page.startswith(f"{title}\n\n"):
        yield f"the page does not begin with `{title}` and an empty line"
    wanted = list(_SECTIONS)
    if entry.is_fixable:
        wanted.insert(wanted.index("Instead") + 1, FIX)
    if re.findall(r"^## (.*)$", entry.page, re.MULTILINE) != wanted:
        yield f"the sections of the page are not {', '.join(wanted)}"
    found = list(blocks(entry))
    for section in (*_WITH_EXAMPLES, *([FIX] if entry.is_fixable else [])):
        if not any(block.section == section for block in found):
            yield f"there is no Python example under `{section}`"
    for block in found:
        marked = any(page_marks(block.text, entry.code))
        if marked != (block.section == "Example") and block.section != FIX:
            said = "no line is marked `# error`" if not marked else "a line is marked `# error`"
            yield f"README.md:{block.line}: {said} under `{block.section}`"
        if bool(_TODO.search(block.text)) != (block.section == "Known misses"):
            yield f"README.md:{block.line}: `# todo: no error` marks a known miss, and each known miss"
