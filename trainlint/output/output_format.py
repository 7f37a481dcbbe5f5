"""The formats that a command can write."""

from enum import Enum


class OutputFormat(str, Enum):
    """Findings: for people, for programs, and for what shows them beside a change."""

    text = "text"
    concise = "concise"
    json = "json"
    sarif = "sarif"
    github = "github"
    gitlab = "gitlab"
    junit = "junit"
    rdjson = "rdjson"
    markdown = "markdown"

    @property
    def is_for_people(self) -> bool:
        """Whether what could not be checked is said beside it; a document holds that itself."""
        return self in (OutputFormat.text, OutputFormat.concise)

    @property
    def is_a_document(self) -> bool:
        """Whether it is one whole that a program reads: another line beside it would break it."""
        return not self.is_for_people and self is not OutputFormat.github

    @property
    def holds_fixes(self) -> bool:
        """Whether it has room for the edits that mend a finding."""
        return self in (OutputFormat.json, OutputFormat.sarif, OutputFormat.rdjson)


class ListFormat(str, Enum):
    """Lists that are no findings: rules, settings."""

    text = "text"
    concise = "concise"
    json = "json"
