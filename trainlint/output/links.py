"""Where words on a terminal lead that can be clicked (OSC 8): codes to pages of rules, places to files."""

from __future__ import annotations

import os
from urllib.parse import quote

from trainlint.finding import Place


def linked(text: str, about: Place | str) -> str:
    """Text that leads to a rule's page, by its code, or to a file; as it is where there is nothing to lead to."""
    where = _file(about) if isinstance(about, Place) else _page(about)
    return f"\x1b]8;;{where}\x1b\\{text}\x1b]8;;\x1b\\" if where else text


def _page(code: str) -> str:
    from trainlint.catalogue import page_file, url

    file = page_file(code)
    return url(code) or (_uri(str(file)) if file.is_file() else "")


def _file(at: Place) -> str:
    if at.path.startswith("<") or not os.path.exists(at.path):
        return ""
    return _uri(os.path.abspath(at.path))


def _uri(path: str) -> str:
    """With the name of this machine, as a terminal may be on another one."""
    host = os.uname().nodename if hasattr(os, "uname") else ""
    whole = quote(os.fsencode(path.replace(os.sep, "/")))
    return f"file://{quote(host)}{whole if whole.startswith('/') else f'/{whole}'}"
