"""The processes that train together, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.ranks import Disagreement, RankSeen
from trainlint.html_report.markup import Content, joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.output.words import count, number, place, seconds, shape


def ranks_panel(run: Recorded) -> Panel | None:
    ranks = sorted(run.facts(RankSeen), key=lambda one: one.number)
    odd = run.facts(Disagreement)
    if not ranks and not odd:
        return None
    rows = [
        (
            f"rank {one.number}",
            Cell(one.steps, numeric=True),
            Cell(number(one.loss), numeric=True),
            Cell(number(one.gradient), numeric=True),
            Cell(shape(one.batch), numeric=True),
            Cell(seconds(one.seconds), numeric=True),
        )
        for one in ranks
    ]
    numbers = sorted({rank for one in odd for rank in one.ranks})
    differences: list[Sequence[Cell | Content]] = [
        (
            joined(
                one.what, " of " if one.subject else "", tag("code", one.subject) if one.subject else None
            ),
            tag("span", place(one.at), class_="place"),
            *(Cell(one.ranks.get(rank, ""), kind="bad") for rank in numbers),
        )
        for one in odd
    ]
    heads = ("rank", "steps", "last loss", "gradient norm", "input", "latest step")
    body = joined(
        table("The ranks side by side", heads, rows) if rows else None,
        tag(
            "p",
            "Gradients are averaged over the ranks, so their norms should agree; losses differ, since each rank has "
            "samples of its own.",
            class_="dim",
        )
        if rows
        else None,
        table(
            "What they do not have in common",
            ("what", "at", *(f"rank {one}" for one in numbers)),
            differences,
        )
        if differences
        else None,
    )
    note = count(len(odd), "difference") if odd else count(len(ranks), "rank")
    return Panel("ranks", "Ranks", body, note, alarming=bool(odd))
