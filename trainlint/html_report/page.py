"""The whole page: one file, no request to anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trainlint import __version__
from trainlint.facts.model.recorded import Recorded
from trainlint.html_report.markup import Html, joined, tag
from trainlint.html_report.panel import Panel
from trainlint.html_report.panels.batch import batch_panel
from trainlint.html_report.panels.checks import checks_panel
from trainlint.html_report.panels.findings import findings_panel
from trainlint.html_report.panels.gradients import gradients_panel
from trainlint.html_report.panels.history import history_panel
from trainlint.html_report.panels.losses import losses_panel
from trainlint.html_report.panels.lost import lost_panel
from trainlint.html_report.panels.masks import masks_panel
from trainlint.html_report.panels.modules import modules_panel
from trainlint.html_report.panels.probes import probes_panel
from trainlint.html_report.panels.ranks import ranks_panel
from trainlint.html_report.panels.time import time_panel
from trainlint.html_report.summary import summary, title_of
from trainlint.project.source_texts import Lines
from trainlint.report import Report

_FOLDER = Path(__file__).parent


def page(report: Report, lines: Lines) -> str:
    """The report of a recorded step as the text of an HTML file."""
    run = report.run
    assert run is not None
    found = (findings_panel(report, lines), *_of_phase(run), ranks_panel(run))
    later = (
        replace(panel, key=f"{panel.key}-{number}", title=f"Phase {number}: {panel.title}")
        for number, phase in enumerate(run.later, 2)
        for panel in _of_phase(phase)
        if panel is not None
    )
    panels = [
        one for one in (*found, *later, probes_panel(run.phases[-1]), checks_panel(report)) if one is not None
    ]
    return document(title_of(run), joined(summary(report, panels), contents(panels), map(section, panels)))


def _of_phase(run: Recorded) -> tuple[Panel | None, ...]:
    return (
        losses_panel(run),
        history_panel(run),
        modules_panel(run),
        gradients_panel(run),
        lost_panel(run),
        masks_panel(run),
        batch_panel(run),
        time_panel(run),
    )


def document(title: str, body: Html) -> str:
    """A page with our style and script, which its Content-Security-Policy lets in by their hashes and nothing else."""
    style = (_FOLDER / "style.css").read_text(encoding="utf-8")
    script = (_FOLDER / "script.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"trainlint {__version__}"),
        tag("title", title),
        tag("style", Html(style)),
    )
    inner = tag("body", tag("main", body), tag("script", Html(script)))
    return f"<!doctype html>\n{tag('html', head, inner, lang='en')}\n"


def contents(panels: Sequence[Panel]) -> Html:
    """Links to the panels, each with what is to be seen there."""
    links = [
        tag(
            "a",
            one.title,
            tag("span", one.note, class_="note bad" if one.alarming else "note") if one.note else None,
            href=f"#{one.key}",
        )
        for one in panels
    ]
    return tag("nav", tag("ul", [tag("li", link) for link in links]), aria_label="Panels")


def section(panel: Panel) -> Html:
    heading = tag("h2", panel.title, id=f"{panel.key}-title")
    return tag("section", heading, panel.body, id=panel.key, aria_labelledby=f"{panel.key}-title")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
