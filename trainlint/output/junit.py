"""JUnit's XML, which most build servers show: a test fails for each finding, and one passes where there is none."""

from __future__ import annotations

from xml.etree import ElementTree

from trainlint.finding import Finding, Problem
from trainlint.output.layout import Layout
from trainlint.output.printable import printable
from trainlint.output.style import plain
from trainlint.output.text import finding_text
from trainlint.project.source_texts import Lines
from trainlint.report import Report

_LAYOUT = Layout()


def junit(report: Report, lines: Lines) -> str:
    findings, problems = report.standing, report.problems
    counts = {
        "tests": str(max(1, len(findings) + len(problems))),
        "failures": str(len(findings)),
        "errors": str(len(problems)),
        "time": f"{report.seconds:.3f}",
    }
    top = ElementTree.Element("testsuites", {"name": "trainlint", **counts})
    suite = ElementTree.SubElement(top, "testsuite", {"name": "trainlint", "skipped": "0", **counts})
    for finding in findings:
        _failed(suite, finding, lines)
    for problem in problems:
        _broken(suite, problem)
    if not findings and not problems:
        ElementTree.SubElement(suite, "testcase", {"name": "nothing found", "classname": "trainlint"})
    ElementTree.indent(top)
    data: bytes = ElementTree.tostring(top, encoding="us-ascii", xml_declaration=True)
    return f"{data.decode()}\n"  # ASCII is right in whatever encoding it is sent


def _failed(suite: ElementTree.Element, finding: Finding, lines: Lines) -> None:
    at = finding.at
    case = _case(suite, f"{finding.code} {finding.name} at {at.shown}", at.path, at.in_file.line)
    failure = ElementTree.SubElement(
        case, "failure", {"type": finding.level or "error", "message": printable(finding.message)}
    )
    failure.text = plain(finding_text(finding, lines, _LAYOUT))


def _broken(suite: ElementTree.Element, problem: Problem) -> None:
    case = _case(suite, f"{problem.shown} could not be checked", problem.path, problem.file_line or 1)
    error = ElementTree.SubElement(case, "error", {"type": "error", "message": printable(problem.message)})
    error.text = printable(f"{problem.shown}: {problem.message}")


def _case(suite: ElementTree.Element, name: str, path: str, line: int) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite,
        "testcase",
        {"name": printable(name), "classname": printable(path), "file": printable(path), "line": str(line)},
    )
