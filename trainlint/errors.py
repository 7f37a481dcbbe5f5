"""What a user asked for that cannot be done: ends a command with one clear line."""

from __future__ import annotations


class UsageError(Exception):
    """A wrong option, path or configuration; its text is shown as it is."""


class BadRule(UsageError):
    """A rule that is not trainlint's own and cannot be used; its text says where in its code."""


class ProgramFailed(Exception):
    """A traced program that failed before anything was recorded; its text is shown as it is."""


class ReportedElsewhere(Exception):
    """Another process of the same distributed run reports for this one."""
