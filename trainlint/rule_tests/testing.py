"""All tests of one rule, and where rules to test are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from trainlint.errors import UsageError
from trainlint.project.own_rules import of_folder
from trainlint.rule_tests.asking import (
    checked,
    written,
    wrong_with_example,
    wrong_with_fix,
    wrong_with_pair,
)
from trainlint.rule_tests.pages import blocks, wrong_with_page
from trainlint.rule_tests.running import wrong_with_recorded_example, wrong_with_runs, wrong_with_scripts
from trainlint.rules import FOLDER_NAME, Brought, Entry, rule_folders

_FILES = ("rule.py", "README.md", "bad.py", "good.py")


def brought_by(paths: list[Path]) -> list[Brought]:
    """The folders of rules that these paths are, or lie in. Raises UsageError for what is neither."""
    found = []
    for path in paths:
        folder = path.resolve()
        if FOLDER_NAME.fullmatch(folder.name) and (folder / "rule.py").is_file():
            folder = folder.parent
        if not rule_folders(folder):
            raise UsageError(
                f"{path}: there is no rule here; a rule is a folder such as acme101_my_rule that holds a rule.py"
            )
        found.append(of_folder(folder, str(path)))
    return list(dict.fromkeys(found))


def wrong_with(entry: Entry, *, runs: bool) -> Iterator[str]:
    """What is wrong with a rule, its page, its programs and its fix, each in one line.

    Args:
        runs: whether its programs are run too, which needs torch.
    """
    missing = [name for name in _FILES if not (entry.folder / name).is_file()]
    if missing:
        yield f"there is no {', no '.join(missing)}"
        return
    yield from wrong_with_page(entry)
    with tempfile.TemporaryDirectory(prefix="trainlint-") as scratch:
        for number, block in enumerate(blocks(entry)):
            folder = Path(scratch).resolve() / str(number)
            if entry.rule.by != "T":
                marked = written(block, folder)
                yield from wrong_with_example(block, marked, checked(*sorted(marked)).findings)
            elif runs:
                folder.mkdir()
                yield from wrong_with_recorded_example(block, folder)
    yield from wrong_with_pair(entry)
    yield from wrong_with_fix(entry)
    if runs:
        yield from wrong_with_scripts(entry)
        yield from wrong_with_runs(entry)
