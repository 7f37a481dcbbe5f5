"""The head of the page: what is wrong, in one look, and what was recorded."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.html_report.cases import Case, standing
from trainlint.html_report.markup import Html, prose, tag
from trainlint.html_report.panel import Panel
from trainlint.output.words import count, joined_words, number, place
from trainlint.report import Report

_MOST = 8
"""Findings that are named at the top; the others follow below."""


def title_of(run: Recorded) -> str:
    name = os.path.basename(run.argv[0]) if run.argv else "a block of code"
    return f"trainlint: {count(run.ending.steps, 'step')} of {name}"


def summary(report: Report, panels: Sequence[Panel]) -> Html:
    """The headline, the cases, and what was recorded. Where no rule found anything, panels may stand out yet."""
    run = report.run
    assert run is not None
    found = standing(report)
    links = [tag("li", _link(one)) for one in found[:_MOST]]
    if len(found) > _MOST:
        links.append(tag("li", tag("a", f"and {len(found) - _MOST} more", href="#findings")))
    odd = [one.title for one in panels if one.alarming]
    worst = next((one for one in ("error", "warning", "info") if report.by_level[one]), "clear")
    if worst == "clear" and (odd or run.ended.how == "failed"):
        worst = "warning"
    return tag(
        "header",
        tag("p", title_of(run), class_="what"),
        tag("h1", _headline(report, odd), class_=worst),
        tag("ul", links, class_="worst") if links else None,
        _facts(run),
    )


def _link(case: Case) -> Html:
    """A case in two lines, and where it stands."""
    first, others = case.first, len(case.findings) - 1
    return tag(
        "a",
        tag("span", first.level or "error", class_=f"level {first.level}"),
        tag("code", first.code),
        " ",
        tag("b", first.name),
        tag(
            "span", place(first.at), f" and {count(others, 'more place')}" if others else None, class_="place"
        ),
        tag("span", first.verdict, class_="verdict") if first.verdict else None,
        tag("span", prose(first.message), class_="message"),
        href=f"#{case.key}",
    )


def _headline(report: Report, odd: Sequence[str]) -> str:
    """What to take home."""
    run = report.run
    assert run is not None
    counts = report.by_level
    found = [
        count(counts[level], level, "info" if level == "info" else "") for level in counts if counts[level]
    ]
    if run.ended.how == "failed":
        ended = f"The program failed: {run.ended.error}"
        return f"{ended}. {joined_words(found)} found" if found else ended
    if found:
        return f"{joined_words(found)} found"
    if run.ending.showed_nothing:
        return "No training step was recorded"
    return f"No rule found anything, but look at: {', '.join(odd)}" if odd else "Nothing wrong was found"


def _facts(run: Recorded) -> Html:
    """What was recorded, in a line of names and values."""
    ending = run.ending
    parameters = run.facts(ParameterSeen)
    trained = [one for one in parameters if one.trainable]
    elements = sum(_elements(one) for one in parameters)
    rows: list[tuple[str, str]] = [
        ("program", " ".join(run.argv)),
        (
            "recorded",
            f"{count(ending.steps, 'step')}, {count(ending.backwards, 'backward pass', 'backward passes')}",
        ),
        ("ended", _how(run)),
        (
            "parameters",
            f"{elements:,} in {count(len(parameters), 'tensor')}"
            + (
                f", {len(parameters) - len(trained)} of them frozen" if len(trained) < len(parameters) else ""
            ),
        ),
        ("data types", ", ".join(dict.fromkeys(one.dtype for one in parameters))),
        ("device", ", ".join(dict.fromkeys(one.device for one in parameters))),
        ("optimizer", "; ".join(dict.fromkeys(map(_optimizer, run.facts(OptimizerSeen))))),
        ("torch", run.torch),
    ]
    shown = [tag("div", tag("dt", name), tag("dd", value)) for name, value in rows if value]
    return tag("dl", shown, class_="facts")


def _how(run: Recorded) -> str:
    ending = run.ending
    said = {
        "recorded": "by trainlint, once all was recorded",
        "block": "with the block",
        "finished": "by itself",
        "failed": f"with {ending.error}" + (f" at {place(ending.at)}" if ending.at else ""),
        "interrupted": "interrupted",
        "waited": "no optimizer stepped, so trainlint ended it",
        "exited": "by os._exit",
    }
    return said.get(ending.how, ending.how)


def _optimizer(one: OptimizerSeen) -> str:
    rates = ", ".join(dict.fromkeys(map(number, one.learning_rates)))
    return f"{one.type.rpartition('.')[2]}, learning rate {rates}"


def _elements(parameter: ParameterSeen) -> int:
    size = 1
    for one in parameter.shape:
        size *= one
    return size
