"""What a shell completes beyond options and files: rules."""

from __future__ import annotations

from collections.abc import Iterator


def rules(incomplete: str) -> Iterator[tuple[str, str]]:
    """Codes that begin as typed, each with its name; or names, each with its code."""
    from trainlint.catalogue import names

    for code, name in names().items():
        if code.startswith(incomplete.upper()):
            yield code, name
        elif incomplete and name.startswith(incomplete.lower()):
            yield name, code


def rules_listed(incomplete: str) -> Iterator[tuple[str, str]]:
    """The same for the last of several, with commas between; and `ALL`."""
    before, comma, last = incomplete.rpartition(",")
    if last and "ALL".startswith(last.upper()):
        yield f"{before}{comma}ALL", "every rule"
    for word, about in rules(last):
        yield f"{before}{comma}{word}", about
