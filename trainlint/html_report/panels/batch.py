"""The batch: what the model and the loss were given."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.targets import Padding
from trainlint.facts.seen.texts import Tokenized
from trainlint.html_report.charts.chart import Axis, Chart, Point, Series
from trainlint.html_report.charts.svg import svg
from trainlint.html_report.markup import Content, Html, joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.output.words import count, number, place, shape, share

_MOST_CLASSES = 24
"""Classes that a chart shows; of more, a table says how many there are."""
_MOST_SAMPLES = 6


def batch_panel(run: Recorded) -> Panel | None:
    given = _latest(run.facts(BatchSeen))
    if not given:
        return None
    targets = [one for one in given if one.role == "target" and one.distinct is not None]
    charted = [one for one in targets if one.distinct is not None and 1 < one.distinct <= _MOST_CLASSES]
    body = joined(
        table("What model and loss were given", _HEADS, map(_row, given)),
        _samples([one for one in given if one.sample]),
        [svg(_classes(one)) for one in charted[:2]],
        _padding(run.facts(Padding)),
        _texts(run.facts(Tokenized)),
    )
    odd = [one for one in given if one.constant or (one.spread is not None and one.spread.non_finite)]
    first = next((one for one in given if one.role == "input"), given[0])
    note = f"{count(len(odd), 'tensor')} constant or not finite" if odd else shape(first.shape)
    return Panel("batch", "Batch", body, note, alarming=bool(odd))


def _latest(seen: Sequence[BatchSeen]) -> list[BatchSeen]:
    """One for each place and argument: inputs first."""
    found = {(one.at, one.role, one.name): one for one in reversed(seen)}
    return sorted(found.values(), key=lambda one: (one.role != "input", one.at, one.name))


_HEADS = (
    "what",
    "given to",
    "at",
    "shape",
    "data type",
    "device",
    "smallest",
    "largest",
    "mean ± std",
    "distinct",
)


def _row(one: BatchSeen) -> Sequence[Cell | Content]:
    spread = one.spread
    broken = "bad" if spread is not None and spread.non_finite else ""
    whole = one.distinct is not None
    if spread is None:
        middle = ""
    else:
        middle = number(spread.mean) if whole else f"{number(spread.mean)} ± {number(spread.std)}"
    return (
        f"{one.role} {one.name}",
        tag("code", one.to),
        tag("span", place(one.at), class_="place"),
        shape(one.shape),
        one.dtype,
        one.device,
        Cell(number(spread.smallest) if spread else "", numeric=True, kind=broken),
        Cell(number(spread.largest) if spread else "", numeric=True, kind=broken),
        Cell("" if whole else middle, numeric=True, kind=broken),
        Cell("all equal" if one.constant else one.distinct, numeric=True, kind="bad" if one.constant else ""),
    )


def _samples(given: Sequence[BatchSeen]) -> Html | None:
    """The first sample of inputs and targets, one under the other, so that a shift is to be seen."""
    tokens = [one for one in given if len(one.shape) > 1 and len(one.sample) > 1]
    if not tokens:
        return None
    length = tokens[0].shape[-1]
    rows: list[Sequence[Cell | Content]] = []
    for one in given[:_MOST_SAMPLES]:
        flat = len(one.shape) == 1 and one.shape[0] % length == 0
        held = one.sample[:length] if flat else one.sample
        shown = tag("code", " ".join(map(str, held)), class_="tokens")
        text = tag("p", one.text, class_="text") if one.text and not flat else None
        rows.append((f"{one.role} {one.name}", joined(shown, text)))
    return table("The first sample", ("what", "from the beginning"), rows)


def _classes(one: BatchSeen) -> Chart:
    held = sorted(one.counts)
    points = tuple(Point(n, amount, f"{value}: {amount}", 0.0) for n, (value, amount) in enumerate(held))
    most, least = max(amount for _, amount in held), min(amount for _, amount in held)
    return Chart(
        f"Targets of {one.to} in this batch",
        f"{len(held)} different ones, each {least} to {most} times",
        Axis("target", names=tuple(str(value) for value, _ in held)),
        Axis("count", ends=(0.0,)),
        (Series("targets", "bar", points),),
        height=170,
    )


def _padding(found: Sequence[Padding]) -> Html | None:
    if not found:
        return None
    rows = [
        (
            tag("span", place(one.at), class_="place"),
            one.by,
            Cell(one.padded, numeric=True),
            Cell(one.counted, numeric=True, kind="bad" if one.counted else ""),
            Cell(one.targets, numeric=True),
            Cell(share(one.counted / one.targets) if one.targets else "", numeric=True),
        )
        for one in dict.fromkeys(found)
    ]
    heads = (
        "loss",
        "padding known by",
        "padded positions",
        "that count in the loss",
        "all that count",
        "share",
    )
    return table("Padding in the targets", heads, rows)


def _texts(found: Sequence[Tokenized]) -> Html | None:
    if not found:
        return None
    rows = [
        (
            tag("code", one.tokenizer),
            tag("span", place(one.at), class_="place"),
            Cell(one.texts, numeric=True),
            Cell(one.tokens, numeric=True),
            Cell(share(one.unknown / one.tokens) if one.tokens else "", numeric=True),
            Cell(share(one.cut / one.sequences) if one.sequences else "", numeric=True),
        )
        for one in found
    ]
    heads = ("tokenizer", "at", "texts looked at", "tokens", "unknown", "texts cut")
    return table("Texts", heads, rows)
