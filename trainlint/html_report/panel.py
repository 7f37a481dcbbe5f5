"""What a panel of the report is, and tables in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trainlint.html_report.markup import Content, Html, tag


@dataclass(frozen=True)
class Panel:
    """A part of the page.

    Args:
        key: its anchor.
        title: its heading.
        body: what stands under it.
        note: a few words for the table of contents, such as `3 without a gradient`.
        alarming: whether the note is of something wrong.
    """

    key: str
    title: str
    body: Html
    note: str = ""
    alarming: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Args:
        numeric: whether it stands to the right, digits under digits.
        kind: how it looks: `bad`, `good`, `dim`, or `heat-0` (cold) to `heat-8` (hot).
    """

    content: Content
    numeric: bool = False
    kind: str = ""


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Cell | Content]]) -> Html:
    """A table whose first column names its rows. It scrolls by itself where it is too wide, also with the keyboard."""
    all_rows = list(rows)
    first = all_rows[0] if all_rows else ()
    numeric = [isinstance(one, Cell) and one.numeric for one in first]
    head = [
        tag("th", one, scope="col", class_="number" if is_number else None)
        for one, is_number in zip(heads, numeric, strict=True)
    ]
    body = [tag("tr", [_cell(n, one) for n, one in enumerate(row)]) for row in all_rows]
    inner = tag("table", tag("caption", caption), tag("thead", tag("tr", head)), tag("tbody", body))
    return tag("div", inner, class_="scrolls", tabindex=0, role="region", aria_label=caption)


def _cell(column: int, cell: Cell | Content) -> Html:
    if not isinstance(cell, Cell):
        cell = Cell(cell)
    classes = " ".join(filter(None, ("number" if cell.numeric else "", cell.kind))) or None
    if column == 0:
        return tag("th", cell.content, scope="row", class_=classes)
    return tag("td", cell.content, class_=classes)
