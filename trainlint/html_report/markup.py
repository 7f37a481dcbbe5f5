"""HTML that is escaped by construction: whatever is not `Html` already is text, and is shown as text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from trainlint.output.printable import printable


class Html(str):
    """Markup that is safe to be put into a page as it is."""

    __slots__ = ()


Content: TypeAlias = "str | int | Iterable[Content] | None"
Attribute: TypeAlias = str | int | float | bool | None

_VOID = frozenset(("meta", "img", "link", "br", "hr", "input"))


def tag(name: str, /, *contents: Content, **attributes: Attribute) -> Html:
    """An element. Names of attributes may end in `_`, and hold `_` for `-`; True is an attribute without a value."""
    start = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Html(start) if name in _VOID else Html(f"{start}{joined(*contents)}</{name}>")


def joined(*contents: Content) -> Html:
    """Several pieces, one after the other."""
    return Html("".join(map(_content, contents)))


def prose(text: str) -> Html:
    """A message, with what stands in `backticks` as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return joined(text)
    return joined(*(tag("code", one) if number % 2 else one for number, one in enumerate(pieces)))


def safe(text: str) -> str:
    """Text for a page: no character that is invisible or turns the text around, and no markup."""
    return escape("\n".join(map(printable, text.split("\n"))))


def _content(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Html):
        return content
    if isinstance(content, str):
        return safe(content)
    if isinstance(content, int):
        return str(content)
    return "".join(map(_content, content))


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{safe(str(value))}"'
