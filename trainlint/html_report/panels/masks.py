"""The attention masks: what each takes out, as a picture and in numbers."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.masks import MaskPicture, MaskSeen, MasksMet
from trainlint.html_report.markup import Content, Html, joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.html_report.png import Colour, data_address
from trainlint.output.words import count, place, shape, share

_KEPT: Colour = (230, 238, 248)
_MASKED: Colour = (32, 52, 84)
_EMPTY: Colour = (192, 38, 28)
"""Of a row in which nothing is kept."""
_PIXELS = 180
"""Width and height of a picture on the page, at most."""


def masks_panel(run: Recorded) -> Panel | None:
    seen = list(dict.fromkeys(run.facts(MaskSeen)))
    if not seen:
        return None
    alike: dict[object, list[MaskSeen]] = {}
    for one in seen:
        alike.setdefault((one.picture, one.way, one.at), []).append(one)
    bad = [one for one in seen if _is_bad(one)]
    more = sum(one.times for one in run.facts(MasksMet)) - len(seen)
    body = joined(
        tag(
            "p",
            "Dark is masked, light is kept: queries down, keys across, of the first sample of the batch. A red row keeps "
            "nothing.",
            class_="dim",
        ),
        tag(
            "ul",
            [tag("li", figure) for group in alike.values() if (figure := _figure(group)) is not None],
            class_="pictures",
        ),
        table("Each mask", _HEADS, map(_row, seen)),
        tag("p", f"{count(more, 'more mask')} at the same places, in other modules and steps.", class_="dim")
        if more > 0
        else None,
    )
    note = f"{len(bad)} with rows that keep nothing" if bad else count(len(seen), "mask")
    return Panel("masks", "Attention masks", body, note, alarming=bool(bad))


def _is_bad(one: MaskSeen) -> bool:
    return not one.fits or (one.empty_rows > 0 and not one.is_mended)


_HEADS = ("in", "at", "way", "mask", "on scores", "masked", "queries without keys")


def _row(one: MaskSeen) -> Sequence[Cell | Content]:
    if not one.fits:
        masked, empty = Cell(""), Cell("does not fit", kind="bad", numeric=True)
    else:
        masked = Cell(share(one.masked), numeric=True)
        said = f"{one.empty_rows} of {one.rows}" if one.empty_rows else "none"
        empty = Cell(
            f"{said}, mended" if one.empty_rows and one.is_mended else said,
            numeric=True,
            kind="bad" if _is_bad(one) else "",
        )
    return (
        tag("code", one.module or "the program"),
        tag("span", place(one.at), class_="place"),
        one.way,
        f"{shape(one.shape)} {one.dtype}",
        shape(one.scores),
        masked,
        empty,
    )


def _figure(group: Sequence[MaskSeen]) -> Html | None:
    """The picture of masks that look alike, with the modules that apply them."""
    picture = group[0].picture
    cells = _cells(picture) if picture is not None else None
    if picture is None or cells is None:
        return None
    names = [one.module or "the program" for one in group]
    shown = names[0] if len(set(names)) == 1 else f"{names[0]} to {names[-1]} ({len(names)} alike)"
    size = max(picture.rows, picture.columns)
    image = tag(
        "img",
        src=data_address(_pixels(picture, cells)),
        alt=f"Mask of {shown}: {share(group[0].masked)} masked, {picture.down} down, keys across",
        width=max(12, _PIXELS * picture.columns // size),
        height=max(12, _PIXELS * picture.rows // size),
    )
    about = f"{picture.down} down, keys across" if picture.down != "queries" else shape(group[0].shape)
    return tag("figure", image, tag("figcaption", shown, tag("span", about, class_="dim")))


def _cells(picture: MaskPicture) -> bytes | None:
    """None where a recording holds something else than a picture."""
    size = picture.rows * picture.columns
    try:
        found = zlib.decompressobj().decompress(base64.b64decode(picture.cells), size + 1)
    except (zlib.error, binascii.Error, ValueError):
        return None
    return found if size and len(found) == size else None


def _pixels(picture: MaskPicture, cells: bytes) -> list[list[Colour]]:
    rows = [cells[n * picture.columns : (n + 1) * picture.columns] for n in range(picture.rows)]
    return [[_EMPTY if min(row) == 255 else _mixed(one) for one in row] for row in rows]


def _mixed(masked: int) -> Colour:
    red, green, blue = (
        kept + (gone - kept) * masked // 255 for kept, gone in zip(_KEPT, _MASKED, strict=True)
    )
    return red, green, blue
