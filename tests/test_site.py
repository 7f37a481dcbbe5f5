"""The site is built from the pages, without a request to anywhere, and findings lead to it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.own import FILES, PAGE
from trainlint.catalogue import names, url
from trainlint.rules import bring

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

ROOT = Path(__file__).parent.parent
SITE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"][
    "Documentation"
]
NOWHERE = "http://127.0.0.1:9"


def test_the_site_is_built_strictly_and_has_a_page_for_each_rule(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="needs the extra `docs`")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "http_proxy": NOWHERE, "https_proxy": NOWHERE, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    table = (tmp_path / "rules/index.html").read_text(encoding="utf-8")
    for code, name in names().items():
        page = (tmp_path / f"rules/{code.lower()}/index.html").read_text(encoding="utf-8")
        assert f"{code} {name}" in page
        assert f'<a href="{code.lower()}/">{code}</a>' in table
        shown = re.sub(r'<link rel="(?:canonical|prev|next)"[^>]*>', "", page)
        assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=.https?:", shown) == []
        assert f'<link rel="canonical" href="{SITE}rules/{code.lower()}/">' in page


@pytest.fixture
def documented(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that says where its site is."""
    said = Message()
    said["Project-URL"] = "Source, https://example.com/code"
    said["Project-URL"] = "Documentation, https://example.com/docs/"
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: said)


def test_explain_and_sarif_lead_to_the_site(documented: None, project: Project, trainlint: Trainlint) -> None:
    address = "https://example.com/docs/rules/tl101/"
    assert trainlint("explain", "TL101").stdout.endswith(f"\nOn the site: <{address}>\n")
    project({"a.py": "tl101()\n"})
    [run] = json.loads(trainlint("check", "--output-format", "sarif").stdout)["runs"]
    assert [rule["helpUri"] for rule in run["tool"]["driver"]["rules"]] == [address]


def test_rules_of_others_are_not_on_the_site(
    documented: None, project: Project, trainlint: Trainlint
) -> None:
    project(FILES)
    assert trainlint("explain", "ACME101").stdout.endswith(PAGE.partition("\n")[2])
    bring(())


def test_without_a_site_nothing_leads_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: Message())
    assert url("TL101") is None
