"""Rules of a project or of an installed package: where they come from, who runs them, whose mistakes theirs are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.editor import editor
from tests.own import FILES, PAGE, RULE, TRAIN
from trainlint.catalogue import names
from trainlint.cli.app import app
from trainlint.output.links import linked
from trainlint.project import own_rules
from trainlint.project.own_rules import TRUSTED
from trainlint.rules import bring

if TYPE_CHECKING:
    from typer.testing import Result

    from tests.conftest import Project

FILE = "lint/acme101_full_dropout/rule.py"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is brought before or after, and no folder is trusted."""
    monkeypatch.delenv(TRUSTED, raising=False)
    yield
    bring(())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def codes(*arguments: str) -> list[str]:
    document = json.loads(run("check", "--output-format", "json", *arguments).stdout)
    assert document["errors"] == []
    return [one["code"] for one in document["findings"]]


def test_without_a_word_a_check_stops_and_runs_nothing(project: Project) -> None:
    project({**FILES, FILE: "open('ran', 'w')\n"})
    ran = run("check")
    assert ran.exit_code == 2
    assert "`rule-paths` names rules in lint, which is code" in ran.stderr
    assert "--own-rules runs it, --no-own-rules leaves it out" in ran.stderr
    for arguments in (["check", "--no-own-rules"], ["rules"], ["explain", "ACME101"], ["config"]):
        assert run(*arguments).exit_code == 0, arguments
    assert not Path("ran").exists()


def test_with_a_word_they_run_and_are_rules_like_all_others(project: Project) -> None:
    project(FILES)
    assert codes("--own-rules") == ["ACME101"]
    assert codes("--own-rules", "--ignore", "ACME") == []
    assert codes("--own-rules", "--select", "full-dropout") == ["ACME101"]
    heading, _, rest = PAGE.partition("\n")
    assert run("explain", "full-dropout").stdout.startswith(
        f"{heading}\n\nOff here, as a rule of the project's own "
    )
    assert run("explain", "full-dropout").stdout.endswith(rest)
    assert "All values are dropped." in run("rules", "--own-rules", "ACME1").stdout
    [sarif] = json.loads(run("check", "--own-rules", "--output-format", "sarif").stdout)["runs"]
    assert [rule["id"] for rule in sarif["tool"]["driver"]["rules"]] == ["ACME101"]
    assert "ACME101" not in names() or run("check", "--no-own-rules").exit_code == 0
    assert "ACME101" not in names()


@pytest.mark.parametrize(("trusted", "found"), [("{root}", 1), ("{root}/..", 1), ("{root}/lint", 2), ("", 2)])
def test_folders_that_the_environment_trusts(
    project: Project, monkeypatch: pytest.MonkeyPatch, trusted: str, found: int
) -> None:
    root = project(FILES)
    monkeypatch.setenv(TRUSTED, os.pathsep.join(["/nowhere", trusted.format(root=root)]))
    assert run("check").exit_code == found
    assert run("check", "--no-own-rules").exit_code == 0


def test_left_out_they_are_still_known(project: Project) -> None:
    silenced = TRAIN.replace(
        "nn.Linear(32, 1))\n", "nn.Linear(32, 1))  # trainlint: ignore[ACME101] on purpose\n"
    )
    project(
        {
            **FILES,
            "trainlint.toml": 'rule-paths = ["lint"]\nextend-select = ["ACME101"]\n',
            "train.py": silenced,
        }
    )
    assert run("check", "--no-own-rules").exit_code == 0
    assert run("check", "--own-rules").exit_code == 0
    project({"train.py": silenced.replace("nn.Dropout(1.0)", "nn.Dropout(0.1)")})
    assert codes("--own-rules") == ["TL000"]
    assert codes("--no-own-rules") == []


def test_a_changed_rule_is_asked_again(project: Project) -> None:
    root = project(FILES)
    assert codes("--own-rules") == ["ACME101"]
    assert codes("--own-rules") == ["ACME101"]
    project({FILE: RULE.replace("== 1", "== 2")})
    assert codes("--own-rules") == []
    project(
        {FILE: RULE.replace("== 1", "== wanted()").replace("\n\n\n@", "\nfrom ..limit import wanted\n\n\n@")}
    )
    for limit, found in ((1, ["ACME101"]), (3, []), (1, ["ACME101"])):
        project({"lint/limit.py": f"def wanted():\n    return {limit}\n"})
        assert codes("--own-rules") == found
    assert not list(root.rglob("lint/**/__pycache__"))


def test_processes_have_them_too(project: Project) -> None:
    project({**FILES, **{f"train_{number}.py": TRAIN for number in range(6)}})
    assert codes("--own-rules", "--jobs", "2", "--no-cache") == ["ACME101"] * 7


def test_a_rule_that_raises_is_said_to_be_wrong_itself(project: Project) -> None:
    project(
        {
            **FILES,
            FILE: RULE.replace("== 1:", "== 1 and helper():") + "\n\ndef helper():\n    return {}['x']\n",
        }
    )
    ran = run("check", "--own-rules")
    assert ran.exit_code == 2
    said = "rule ACME101 failed, which is an error in that rule: KeyError('x')"
    assert f"train.py: {said} ({FILE}:17)" in ran.stderr
    assert "bug in trainlint" not in ran.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = (\n", f"{FILE}:1: rule ACME101 cannot be imported: SyntaxError: '(' was never closed"),
        (
            "\nimport nope\n",
            f"{FILE}:2: rule ACME101 cannot be imported: ModuleNotFoundError: No module named 'nope'",
        ),
        ("raise SystemExit(0)\n", f"{FILE}:1: rule ACME101 cannot be imported: SystemExit: 0"),
        ("check = 1\n", f"{FILE}: `check` is not a rule"),
    ],
)
def test_a_rule_that_cannot_be_imported(project: Project, text: str, said: str) -> None:
    project({**FILES, FILE: text})
    ran = run("check", "--own-rules")
    assert (ran.exit_code, ran.stderr) == (2, f"error: {said}\n")


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("acme101_other_name", "there is another rule ACME101, in lint/acme101_full_dropout"),
        ("acme102_full_dropout", "there is another rule full-dropout, in lint/acme101_full_dropout"),
        ("tl101_mine", "there is another rule TL101, in "),
        ("zoo101_missing_zero_grad", "there is another rule missing-zero-grad, in "),
    ],
)
def test_two_rules_of_one_code_or_name(project: Project, folder: str, said: str) -> None:
    project({**FILES, f"lint/{folder}/rule.py": RULE})
    ran = run("check", "--own-rules")
    assert ran.exit_code == 2
    assert said in ran.stderr
    assert "ACME101" not in names()


@pytest.mark.parametrize("folder", ["nowhere", ".", "lint/acme101_full_dropout"])
def test_folders_without_rules(project: Project, folder: str) -> None:
    project({**FILES, "trainlint.toml": f'rule-paths = ["{folder}"]\n'})
    assert "`rule-paths`: there is no rule in" in run("check", "--own-rules").stderr


def test_programs_that_are_wrong_on_purpose_are_not_checked(project: Project) -> None:
    project({**FILES, "lint/acme101_full_dropout/bad.py": TRAIN, "lint/acme101_full_dropout/good.py": TRAIN})
    found = json.loads(run("check", "--own-rules", "--output-format", "json").stdout)["findings"]
    assert [one["path"] for one in found] == ["lint/acme101_full_dropout/good.py", "train.py"]


def test_a_rule_without_a_page_works(project: Project) -> None:
    root = project(FILES)
    page = root / "lint/acme101_full_dropout/README.md"
    page.write_bytes(b"# ACME101 full-dropout\n\nLatin \xe9.\n")
    assert "Latin \ufffd." in run("explain", "ACME101").stdout
    page.unlink()
    assert (
        "This rule has no page: there is no lint/acme101_full_dropout/README.md."
        in run("explain", "ACME101").stdout
    )
    for output_format in ("sarif", "markdown", "rdjson", "text"):
        assert run("check", "--own-rules", "--output-format", output_format).exit_code == 1
    assert run("rules", "--own-rules", "ACME").exit_code == 0
    assert linked("x", "ACME101") == "x"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package of rules."""
    site = tmp_path / "site"
    for name, text in {
        "acme_rules/__init__.py": "open('imported', 'w')\n",
        "acme_rules/acme101_full_dropout/rule.py": RULE,
        "acme_rules/acme101_full_dropout/README.md": PAGE,
        "acme-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1.2\n",
        "acme-1.2.dist-info/entry_points.txt": "[trainlint.rules]\nacme = acme_rules\n",
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    monkeypatch.setattr(own_rules, "site_folders", lambda: [str(site)])
    monkeypatch.syspath_prepend(site)
    return site


def test_rules_of_an_installed_package_run(package: Path, project: Project) -> None:
    project({"here/train.py": TRAIN})
    assert codes("here") == ["ACME101"]
    assert codes("here", "--no-own-rules") == ["ACME101"]
    assert not Path("imported").exists()


def test_a_package_that_names_rules_it_does_not_have(package: Path, project: Project) -> None:
    project({"here/train.py": TRAIN})
    (package / "acme-1.2.dist-info/entry_points.txt").write_text(
        "[trainlint.rules]\nacme = acme_rules.gone\n"
    )
    ran = run("check", "here")
    assert (ran.exit_code, "the package acme 1.2 names acme_rules.gone" in ran.stderr) == (2, True)


def test_metadata_in_the_working_directory_is_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(
        {
            "train.py": TRAIN,
            "evil-1.dist-info/METADATA": "Name: evil\nVersion: 1\n",
            "evil-1.dist-info/entry_points.txt": "[trainlint.rules]\nevil = evil_rules\n",
            "evil_rules/evil101_a/rule.py": RULE,
        }
    )
    monkeypatch.syspath_prepend(root)  # as under `python -m trainlint`
    assert codes("train.py") == []


@pytest.mark.asyncio
async def test_an_editor_hears_of_them_where_the_environment_says_so(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(FILES)
    monkeypatch.setenv(TRUSTED, str(root))
    async with editor(root) as editing:
        editing.open("train.py")
        await editing.shows("train.py", "ACME101")


@pytest.mark.asyncio
async def test_an_editor_leaves_them_out_otherwise_and_says_so(project: Project) -> None:
    root = project(
        {
            **FILES,
            "train.py": TRAIN.replace("mse_loss(model(", "cross_entropy(model(").replace(
                "(32, 1))", "(32, 2), nn.Softmax(1))"
            ),
        }
    )
    async with editor(root) as editing:
        editing.open("train.py")
        await editing.shows("train.py", "TL101")
        assert any(f"unless the environment variable {TRUSTED} lists {root}" in one for one in editing.told)


@pytest.mark.asyncio
async def test_an_editor_says_what_is_wrong_with_them_and_goes_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(
        {
            **FILES,
            FILE: "import nope\n",
            "train.py": TRAIN.replace("mse_loss(model(", "cross_entropy(model(").replace(
                "(32, 1))", "(32, 2), nn.Softmax(1))"
            ),
        }
    )
    monkeypatch.setenv(TRUSTED, str(root))
    async with editor(root) as editing:
        editing.open("train.py")
        await editing.shows("train.py", "TL101")
        assert any("rule ACME101 cannot be imported" in one for one in editing.told)
