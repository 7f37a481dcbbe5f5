"""What the site has beside the pages of this folder: the README, the changelog, and a page for each rule.

mkdocs calls these functions by their names (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from table import table, table_of_symptoms  # noqa: E402

from trainlint.catalogue import names, page  # noqa: E402

_URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\((?!https?://|#)([^)\s#]+)(#[^)\s]*)?\)")
_BESIDE = re.compile(r"\]\(\.\./(tl\d+)_\w+/README\.md")
"""A link from a rule's page to another's."""
_FROM_ROOT = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}
_FAMILIES = {
    "TL0": "Comments",
    "TL1": "Loss",
    "TL2": "Autograd graph",
    "TL3": "Training loop",
    "TL4": "Precision",
    "TL5": "Data",
    "TL6": "Attention",
    "TL7": "Tokens",
    "TL8": "Performance and devices",
    "TL9": "Modules, runs, checkpoints",
}


def on_config(config: Any) -> Any:
    """The pages of the rules, below the table, and where the site is."""
    config.site_url = _URLS["Documentation"]
    families = [
        {_FAMILIES.get(family, family): [{f"{code} {names()[code]}": _rule(code)} for code in codes]}
        for family, codes in groupby(names(), lambda code: code[:3])
    ]
    for entry in config.nav:
        if "Rules" in entry:
            entry["Rules"] = [*entry["Rules"], *families]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Pages that lie elsewhere in the repository."""
    for name, file in _FROM_ROOT.items():
        text = (HERE.parent / name).read_text(encoding="utf-8")
        files.append(File.generated(config, file, content=_linked(text, HERE.parent)))
    for code in names():
        text = _BESIDE.sub(r"](\1.md", page(code)).replace("](../../docs/", "](../")
        files.append(File.generated(config, _rule(code), content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The table of rules, and links out of the folder."""
    if page.file.generated_by:
        return markdown
    if page.file.src_uri == "rules.md":
        markdown = markdown.replace("<!-- table of rules -->", table())
    if page.file.src_uri == "symptoms.md":
        markdown = markdown.replace("<!-- table of symptoms -->", table_of_symptoms())
    return _linked(markdown, HERE)


def _rule(code: str) -> str:
    return f"rules/{code.lower()}.md"


def _linked(markdown: str, folder: Path) -> str:
    """Links of a page in `folder` as the site has them: to its pages, or into the repository."""

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        at = (folder / target).resolve()
        if folder == HERE and re.fullmatch(r"rules/\w+\.md", target):
            return match[0]
        if at.is_file() and at.is_relative_to(HERE):
            return f"[{words}]({at.relative_to(HERE).as_posix()}{anchor})"
        inside = at.relative_to(HERE.parent).as_posix()
        if inside in _FROM_ROOT:
            return f"[{words}]({_FROM_ROOT[inside]}{anchor})"
        return f"[{words}]({_URLS['Source']}/tree/HEAD/{inside})"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in parts)
