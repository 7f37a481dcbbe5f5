"""The README as a package index shows it: links lead to the site and to the repository, not to files beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?<=\]\()(?!https?://|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
_PAGE = re.compile(r"docs/([\w-]+)\.md")


def linked(readme: str, site: str, repository: str) -> str:
    """Links to pages of `docs/` lead to the site, all others into the repository."""

    def address(found: re.Match[str]) -> str:
        page = _PAGE.fullmatch(found[1])
        where = f"{site.rstrip('/')}/{page[1]}/" if page else f"{repository.rstrip('/')}/blob/HEAD/{found[1]}"
        return where + (found[2] or "")

    return _LINK.sub(address, readme)


class LinkedReadme(MetadataHookInterface):
    """Fills in `readme`, by the project's own addresses."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        urls = metadata["urls"]
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": linked(text, urls["Documentation"], urls["Source"]),
        }
