"""What is wrong in code that the project does not use is information."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import Project, Trainlint
from trainlint import limits
from trainlint.check import project_texts
from trainlint.check.unused import informed
from trainlint.finding import Finding, Place
from trainlint.project.small_files import MOST_BYTES

NETS = """\
class Used:
    pass


class Left:
    def forward(self):
        return 1


print(Used)
"""
MANY = {f"part_{number}.py": "" for number in range(7)}


def level_in(files: Mapping[str, str], line: int = 7, around: Mapping[str, str] = MANY) -> str | None:
    """The level of an error in `nets.py`, once the project was looked at."""
    given = {**around, **files}
    finding = Finding(Place("nets.py", line, 1, line, 2), "", level="error")
    (found,) = informed([finding], lambda path: given[path].encode(), lambda: sorted(given))
    return found.level


@pytest.fixture(autouse=True)
def files_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are named here are there, and short."""
    monkeypatch.chdir(tmp_path)
    for name in ("config.yaml", "run.sh"):
        (tmp_path / name).write_text("")


def test_data_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_bytes(b" " * (MOST_BYTES + 1))
    assert level_in({"nets.py": NETS, "rows.json": "Left"}) == "info"
    (tmp_path / "rows.json").write_bytes(b" " * MOST_BYTES)
    assert level_in({"nets.py": NETS, "rows.json": "Left"}) == "error"


def test_unused_class_is_information() -> None:
    assert level_in({"nets.py": NETS}) == "info"
    assert level_in({"nets.py": NETS}, line=2) == "error"


@pytest.mark.parametrize(
    "user",
    [
        {"train.py": "from nets import *\nmodel = Left()"},
        {"train.py": "import nets\nmodel = getattr(nets, name)()"},
        {"train.py": "import pack.nets\nmodel = pack.nets.__dict__[name]()"},
        {"train.py": "model = import_module('nets')"},
        {"config.yaml": "model: Left"},
        {"run.sh": "python train.py --model Left"},
        {"study.ipynb": '"from nets import *", "\\tLeft()"'},
    ],
    ids=lambda user: next(iter(user.values())),
)
def test_class_that_something_may_use_is_not(user: Mapping[str, str]) -> None:
    assert level_in({"nets.py": NETS, **user}) == "error"


@pytest.mark.parametrize(
    "nets",
    [
        f"{NETS}print(Left)\n",
        f"{NETS}print(globals()[name])\n",
        NETS.replace("class Left", "@register\nclass Left").replace("\n\n\nclass Used", "class Used"),
        NETS.replace("Left", "TestLeft"),
        NETS.replace("print(Used)", "print("),
        NETS.replace("print(Used)", ""),
        f"{NETS}def shown():\n    return Left\n\n\nshown()\n",
    ],
    ids=[
        "named beside",
        "looked up",
        "decorated",
        "a test",
        "broken",
        "whole file unused",
        "used by what is used",
    ],
)
def test_class_is_judged_by_its_own_file_too(nets: str) -> None:
    assert level_in({"nets.py": nets}) == "error"


@pytest.mark.parametrize(
    "more",
    [
        "class Part(Left):\n    pass\n",
        "def one():\n    return other(Left)\n\n\ndef other(one):\n    return one or one()\n",
        "# print(Left)\n",
    ],
    ids=["a class of it is unused", "functions that call each other", "commented out"],
)
def test_what_only_unused_code_names_is_unused(more: str) -> None:
    assert level_in({"nets.py": f"{NETS}\n\n{more}"}) == "info"
    assert level_in({"nets.py": f"{NETS}\n\n{more}", "train.py": "# from nets import Left"}) == "info"
    assert level_in({"nets.py": NETS, "train.py": "from nets import Left\nLeft()"}) == "error"


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({"train.py": "from nets import Left"}, "info"),
        (
            {
                "train.py": "def main():\n    from nets import (\n        Left,\n        Used,\n    )\n    Used()"
            },
            "info",
        ),
        ({"train.py": "from nets import Left\n__all__ = ['Left']"}, "error"),
        ({"train.py": "from nets import Left", "run.py": "from train import Left\nLeft()"}, "error"),
        ({"all.py": "from nets import *", "run.py": "from all import Left\nLeft()"}, "error"),
        ({"all.py": "from nets import *", "run.py": "from all import Left"}, "info"),
        ({"pack/__init__.py": "from nets import Left"}, "error"),
        ({"nets.py": NETS.replace("return 1", "loss.backward()")}, "info"),
        (
            {"nets.py": NETS.replace("return 1", "loss.backward()"), "train.py": "from nets import Left"},
            "error",
        ),
        ({"train.py": "from nets import Left\nif True:\n    Left()\n  print()"}, "info"),
        ({"train.py": "from nets import Left\nLeft(\n"}, "error"),
        ({"train.py": "from nets import Left\nprint Left()"}, "error"),
    ],
    ids=lambda given: " ".join(given.values()) if isinstance(given, dict) else "",
)
def test_import_alone_and_code_that_no_python_runs_use_nothing(files: Mapping[str, str], level: str) -> None:
    assert level_in({"nets.py": NETS, **files}) == level


WHOLE = NETS.replace("print(Used)", 'SIZES = [1, 2]\n"""Sizes."""')
TOGETHER = {"train.py": "".join(f"import {name.removesuffix('.py')}\n" for name in MANY)}


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({"nets.py": WHOLE}, "info"),
        ({"nets.py": f"{WHOLE}train()\n"}, "error"),
        ({"nets.py": f"{WHOLE}SEEN = train()\n"}, "error"),
        ({"nets.py": f"{WHOLE}\n\ndef train():\n    Left().backward()\n"}, "error"),
        ({"nets.py": WHOLE, "config.yaml": "model: nets"}, "error"),
        ({"nets.py": WHOLE, "study.py": "import nets"}, "error"),
        ({"nets.py": WHOLE, "study.py": "from part_0 import Left"}, "info"),
        ({"nets.py": WHOLE, "second/nets.py": WHOLE, "second/study.py": "import nets"}, "info"),
        ({"nets.py": WHOLE, "second/nets.py": WHOLE, "study.py": "import nets"}, "error"),
        ({"nets.py": WHOLE, "second/nets.py": WHOLE, "train.py": "import part_0"}, "info"),
        ({"nets.py": WHOLE, "second/nets.py": NETS, "train.py": "import part_0"}, "error"),
        ({"nets.py": f"{WHOLE}\n\n@register\ndef made():\n    pass\n"}, "error"),
        ({"nets.py": WHOLE, "setup.py": ""}, "error"),
        ({"nets.py": WHOLE, "pyproject.toml": "[project]"}, "error"),
        ({"nets.py": WHOLE, "pyproject.toml": "[tool.ruff]"}, "info"),
        ({"nets.py": WHOLE, "train.py": "import part_0"}, "error"),
        ({"nets.py": WHOLE, **{f"run_{n}.py": "__main__" for n in range(9)}}, "info"),
        ({"nets.py": WHOLE, **{f"loose_{n}.py": "" for n in range(9)}}, "error"),
    ],
    ids=lambda given: " ".join(list(given)[1:2]) if isinstance(given, dict) else "",
)
def test_a_file_that_nothing_names_is_unused_where_the_others_are_imported(
    files: Mapping[str, str], level: str
) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    assert level_in({**TOGETHER, **files}) == level


DOES = "print(1)"
DEFINES = "class Part:\n    pass"
USED = {**{f"used_{number}.py": DEFINES for number in range(3)}, "main.py": "import used_0, used_1, used_2"}


@pytest.mark.parametrize(
    ("files", "level"),
    [
        (USED, "info"),
        ({**USED, "left.py": DEFINES, "more.py": DEFINES}, "info"),
        ({**USED, "left.py": DEFINES, "more.py": DEFINES, "third.py": DEFINES}, "error"),
        (
            {**USED, "left.py": DEFINES, "more.py": DEFINES, "third.py": "print 1", "__init__.py": DEFINES},
            "info",
        ),
        ({**USED, "main.py": "import used_0, used_1"}, "error"),
        ({**USED, "used_2.py": DOES}, "error"),
    ],
)
def test_half_of_the_files_that_do_nothing_are_imported(files: Mapping[str, str], level: str) -> None:
    scripts = {f"script_{number}.py": DOES for number in range(9)}
    assert level_in({"nets.py": WHOLE, **files}, around=scripts) == level


UNRUN = NETS.replace("print(Used)", "")


@pytest.mark.parametrize(
    ("path", "text", "level"),
    [
        ("train.py", "from nets import Used", "info"),
        ("train.py", "import os, nets\nnets.Used()", "info"),
        ("pack/train.py", "from .. import nets\nnets.Used()", "info"),
        ("pack/train.py", "from nets import Used", "info"),
        ("train.py", "from more.nets import Used", "error"),
        ("train.py", "from others import Used, nets", "error"),
    ],
)
def test_rest_of_a_file_is_used_by_what_imports_it(path: str, text: str, level: str) -> None:
    assert level_in({"nets.py": UNRUN, path: text}) == level


@pytest.mark.parametrize(
    ("text", "level"), [("from pack.nets import Used", "info"), ("from nets import Used", "error")]
)
def test_file_of_a_package_is_imported_by_its_name_with_folders(text: str, level: str) -> None:
    finding = Finding(Place("pack/nets.py", 7, 1, 7, 2), "", level="error")
    given = {**MANY, "pack/nets.py": UNRUN, "other/nets.py": "", "train.py": text}
    (found,) = informed([finding], lambda path: given[path].encode(), lambda: sorted(given))
    assert found.level == level


def test_copies_may_be_named_by_where_they_lie(tmp_path: Path) -> None:
    """A file that is named from elsewhere has a path from the root."""
    shown = str(tmp_path / "nets.py")
    given = {**{str(tmp_path / name): text for name, text in MANY.items()}, "nets.py": NETS, shown: NETS}
    given |= {str(tmp_path / "train.py"): "from nets import Left\nLeft()"}
    finding = Finding(Place(shown, 7, 1, 7, 2), "", level="error")
    assert informed([finding], lambda path: given[path].encode(), lambda: sorted(given)) == [finding]


def test_a_package_that_is_the_whole_project_has_no_name() -> None:
    given = {**MANY, "__init__.py": UNRUN}
    finding = Finding(Place("__init__.py", 7, 1, 7, 2), "", level="error")
    assert informed([finding], lambda path: given[path].encode(), lambda: sorted(given)) == [finding]


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("from torch.utils.data import Dataset\n\ndef left(): pass\n\nleft()", "info"),
        ("import utils.nets\nutils.nets.left()", "error"),
    ],
)
def test_name_of_a_folder_alone_is_none_of_its_files(text: str, level: str) -> None:
    finding = Finding(Place("utils/nets.py", 7, 1, 7, 2), "", level="error")
    nets = NETS.replace("Left", "left").replace("print(Used)", "print(Used())")
    given = {**MANY, "utils/nets.py": nets, "train.py": text}
    (found,) = informed([finding], lambda path: given[path].encode(), lambda: sorted(given))
    assert found.level == level


@pytest.mark.parametrize(
    ("user", "imported", "level"),
    [
        ("second/train.py", "nets", "info"),
        ("second/run/train.py", "nets", "info"),
        ("second/train.py", "second.nets", "info"),
        ("second/train.py", ".nets", "info"),
        ("second/train.py", "first.nets", "error"),
        ("second/run/train.py", "..nets", "info"),
        ("second/run/train.py", "...first.nets", "error"),
        ("first/deep/nets.py", "nets", "error"),
        ("first/deep/nets.py", "..nets", "error"),
        ("second/deep/nets.py", "nets", "info"),
        ("first/deep/nets.py", "pathlib import Path\nfrom ..nets", "error"),
        ("first/deep/nets.py", "..nets import (\n    Other,\n)\nfrom .left", "error"),
        ("first/train.py", "nets", "error"),
        ("train.py", "nets", "error"),
    ],
)
def test_a_file_imports_the_copy_that_lies_nearest(user: str, imported: str, level: str) -> None:
    finding = Finding(Place("first/nets.py", 7, 1, 7, 2), "", level="error")
    given = {
        **MANY,
        "first/nets.py": NETS,
        "second/nets.py": NETS,
        user: f"from {imported} import Left\nLeft()",
    }
    (found,) = informed([finding], lambda path: given[path].encode(), lambda: sorted(given))
    assert found.level == level


def test_name_in_a_file_that_imports_something_else_is_another() -> None:
    assert level_in({"nets.py": NETS, "train.py": "from others import Left"}) == "info"


def test_half_a_program_tells_nothing() -> None:
    few = dict(list(MANY.items())[: limits.PROJECT_TELLS - 2])
    assert level_in({"nets.py": NETS}, around=few) == "error"
    assert level_in({"nets.py": NETS, "more.py": ""}, around=few) == "info"


def test_file_that_is_no_part_of_the_project_is_looked_at_all_the_same() -> None:
    finding = Finding(Place("shown.py", 7, 1, 7, 2), "", level="error")
    given = {**MANY, **TOGETHER}
    read = {**given, "shown.py": WHOLE}
    (found,) = informed([finding], lambda path: read[path].encode(), lambda: sorted(given))
    assert found.level == "info"


def test_too_large_a_project_tells_nothing() -> None:
    finding = Finding(Place("nets.py", 7, 1, 7, 2), "", level="error")
    assert informed([finding], lambda path: NETS.encode(), lambda: None) == [finding]


def test_check_looks_at_the_whole_project(project: Project, trainlint: Trainlint) -> None:
    lines = ["def used():", "    pass", "", "def left():", "    tl301()", "", "used()", ""]
    project({**MANY, "setup.py": "", "nets.py": "\n".join(lines), "sub/train.py": ""})
    assert "Found nothing in 1 file (1 more in unused code)." in trainlint("check", "nets.py").output
    assert "nothing in this project uses `left`" in trainlint("check", "nets.py", "--select", "TL3").output
    assert "unused code" not in trainlint("check", "nets.py", "--ignore", "TL3").output
    project({"sub/train.py": "from nets import left\nleft(1)\n"})
    assert "error[TL301]" in trainlint("check", "nets.py").output


METHODS = """\
import torch


class Kept:
    def save(self):
        return 1

    def bring_back(self, path):
        return torch.load(path)

    def fit(self, loss):
        return self.save()


Kept().fit(1)
"""


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({}, "info"),
        ({"train.py": "kept.bring_back(1)"}, "error"),
        ({"train.py": "# kept.bring_back(1)"}, "info"),
        ({"run.sh": "bring_back"}, "error"),
        ({"train.py": "getattr(kept, name)()"}, "error"),
        ({"train.py": "import fire\nfire.Fire(Kept)"}, "error"),
        ({"train.py": "from torch import optim\ngetattr(optim, name)(), getattr(kept, 'fit')"}, "info"),
        ({"setup.py": ""}, "error"),
        ({"nets.py": METHODS.replace("Kept:", "Kept(Callback):")}, "error"),
        ({"nets.py": METHODS.replace("Kept:", "Kept(torch.nn.Module):")}, "info"),
        ({"nets.py": METHODS.replace("    def bring", "    @property\n    def bring")}, "error"),
        ({"nets.py": METHODS.replace("bring_back", "state_dict")}, "error"),
        ({"nets.py": METHODS.replace("return torch.load", "loss.backward(); return torch.load")}, "error"),
        ({"nets.py": METHODS.replace("return self.save()", "return self.bring_back(1)")}, "error"),
    ],
    ids=lambda given: " ".join(given.values())[:60] if isinstance(given, dict) else "",
)
def test_method_whose_name_stands_nowhere_else_is_unused(files: Mapping[str, str], level: str) -> None:
    assert level_in({"nets.py": METHODS, **files}, line=9) == level


def test_only_files_that_name_something_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[bytes] = []

    def what_runs(text: bytes) -> bytes:
        looked_at.append(text)
        return text.replace(b"# ", b"")

    monkeypatch.setattr(project_texts, "what_runs", what_runs)
    texts = project_texts.ProjectTexts(
        {"a.py": b"Net()", "b.py": b"Networks()", "c.py": b"print()", "d.md": b"# Net"}
    )
    assert dict(texts.naming(b"Net")) == {"a.py": b"Net()", "d.md": b"# Net"}
    assert looked_at == [b"Net()"]
    texts = project_texts.ProjectTexts({"a.py": b"getattr(a, b)", "b.py": b"listdir(a)", "c.md": b"vars(a)"})
    assert list(texts.looking_up()) == [b"getattr(a, b)"]
    assert looked_at == [b"Net()", b"getattr(a, b)"]


def test_what_does_not_run_names_nothing() -> None:
    texts = project_texts.ProjectTexts({"a.py": b"# Net()\nprint()", "b.py": b"  Net()\nprint()"})
    assert (list(texts.naming(b"Net")), texts["a.py"]) == ([], b"\nprint()")
