"""What a user asked for that cannot be done: ends a command with one clear line."""

from __future__ import annotations


class UsageError(Exception):
    """A wrong option, path or configuration; its text is shown as it is."""
