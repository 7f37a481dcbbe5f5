"""The formats that are whole documents for programs."""

from __future__ import annotations

from trainlint.output.output_format import OutputFormat
from trainlint.project.source_texts import Lines
from trainlint.report import Report


def document(report: Report, lines: Lines, output_format: OutputFormat) -> str | None:
    """The report in one of them; None for the formats that people read."""
    match output_format:
        case OutputFormat.json:
            from trainlint.output.json_report import json_report

            return json_report(report)
        case OutputFormat.sarif:
            from trainlint.output.sarif import sarif

            return sarif(report, lines)
        case OutputFormat.github:
            from trainlint.output.github import github

            return github(report)
        case OutputFormat.gitlab:
            from trainlint.output.gitlab import gitlab

            return gitlab(report, lines)
        case OutputFormat.junit:
            from trainlint.output.junit import junit

            return junit(report, lines)
        case OutputFormat.rdjson:
            from trainlint.output.rdjson import rdjson

            return rdjson(report, lines)
        case OutputFormat.markdown:
            from trainlint.output.markdown import markdown

            return markdown(report)
        case OutputFormat.text | OutputFormat.concise:
            return None
