"""What is no good Python, or not meant to be read: said clearly, and nothing else is lost for it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.warm import python
from trainlint import judging
from trainlint.cli.app import app
from trainlint.finding import Finding
from trainlint.rule import Rule
from trainlint.rules import Entry, entries

HEAD = "import torch\nfrom torch import nn\ncriterion = nn.CrossEntropyLoss()\n"
BAD = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
"""
FOUND = ("TL101", "known_bad.py", 4, 40)

Report = dict[str, Any]


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def check(folder: Path, *arguments: str, status: int = 1) -> Report:
    """A real command in its own process: the parser is native code and could take the process with it."""
    command = ["-m", "trainlint", "check", "--no-cache", "--output-format", "json", *arguments]
    ran = python(command, folder, seconds=120)
    assert ran.returncode == status, ran.stderr
    assert "Traceback" not in ran.stderr
    report: Report = json.loads(ran.stdout)
    return report


def places(report: Report) -> list[tuple[str, str, int, int]]:
    return [(one["code"], one["path"], one["line"], one["column"]) for one in report["findings"]]


def errors(report: Report) -> dict[str, tuple[int | None, str]]:
    found = {one["path"]: (one["line"], one["message"]) for one in report["errors"]}
    assert len(found) == len(report["errors"]), "more than one error of a file"
    assert not any("bug" in message for _, message in found.values()), found
    return found


def beside_known_bad(folder: Path, files: Mapping[str, str | bytes]) -> dict[str, tuple[int | None, str]]:
    """The errors of these files, when a good file with one finding lies among them."""
    write(folder, {**files, "known_bad.py": BAD})
    report = check(folder)
    assert places(report) == [FOUND]
    return errors(report)


def test_files_that_are_not_python(tmp_path: Path) -> None:
    said = beside_known_bad(
        tmp_path,
        {
            "syntax.py": HEAD + "def (:\n",
            "python2.py": HEAD + 'print "loss", 1\n',
            "python2_raise.py": HEAD + 'raise ValueError, "x"\n',
            "indentation.py": HEAD + "if x:\npass\n",
            "unclosed.py": HEAD + "x = (1,\n",
            "unclosed_string.py": HEAD + 'x = """\n',
            "merge.py": HEAD + "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n",
            "nul.py": HEAD + "x = 1\0\n",
            "not_utf8.py": HEAD.encode() + b'x = "\xff\xfe"\n',
            "surrogate_bytes.py": HEAD.encode() + b'x = "\xed\xa0\x80"\n',
            "unknown_cookie.py": "# -*- coding: klingon -*-\n" + HEAD,
            "cookie_against_mark.py": b"\xef\xbb\xbf# -*- coding: latin-1 -*-\n" + HEAD.encode(),
            "utf16.py": HEAD.encode("utf-16"),
            "no_training.py": "def (:\n",
        },
    )
    assert {path: line for path, (line, _) in said.items() if line is not None} == {
        **dict.fromkeys(["syntax.py", "python2.py", "python2_raise.py"], 4),
        **{
            path: said[path][0]
            for path in ("indentation.py", "unclosed.py", "unclosed_string.py", "merge.py")
        },
        "no_training.py": 1,
    }
    assert set(said) == {path.name for path in tmp_path.glob("*.py")} - {"known_bad.py"}
    assert said["nul.py"][1] == "cannot be decoded: it contains a NUL byte"
    assert said["utf16.py"][1] == "cannot be decoded: it is UTF-16, and Python reads UTF-8"
    assert "klingon" in said["unknown_cookie.py"][1]


def test_files_that_look_odd_and_are_python(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "surrogate.py": BAD + 'x = "\\ud800"\nprint(f"{x}\\udfff")\n',
        "latin.py": b"# -*- coding: latin-1 -*-\n" + BAD.encode() + b'x = "\xe9"\n',
        "mark.py": b"\xef\xbb\xbf" + BAD.encode(),
        "windows.py": BAD.replace("\n", "\r\n"),
        "old_mac.py": BAD.replace("\n", "\r"),
        "form_feed.py": BAD.replace("model =", "\f\nmodel ="),
        "tabs.py": BAD.replace("    ", "\t"),
        "no_last_newline.py": BAD.rstrip(),
        "long_line.py": BAD + "x = [" + "1, " * 20_000 + "]\n",
        "wide.py": BAD.replace("model =", "'né𝄞'; model ="),
    }
    write(tmp_path, files)
    report = check(tmp_path)
    assert not report["errors"]
    moved = {"latin.py": (5, 40), "form_feed.py": (5, 40), "wide.py": (4, 47)}
    assert places(report) == [("TL101", name, *moved.get(name, (4, 40))) for name in sorted(files)]


def test_new_syntax(tmp_path: Path) -> None:
    new = {
        "walrus.py": "if (n := len(data)) > 1:\n    pass\n",
        "match.py": "match data:\n    case {'a': [x, *_], **rest} if x: pass\n    case A(b=1) | None as y: pass\n",
        "star.py": "try:\n    pass\nexcept* (ValueError, TypeError) as e:\n    pass\n",
        "asynchronous.py": "async def f():\n    async with a as b, c:\n        async for d in e:\n            await g(d)\n"
        "    return [i async for i in h() if await i]\n",
        "generic.py": "type L[T] = list[T]\nclass A[T: int, *Ts, **P](B[T]):\n    def f[U](self, x: U) -> U: return x\n",
        "quotes.py": 'print(f"{d["a"]} {f"{d["b"]}"}")\n',
        "positional.py": "def f(a, /, b, *, c=1, **d): return lambda *e, f=1, **g: (yield)\n",
        "with.py": "with (open('a') as a, open('b') as b,):\n    pass\n",
    }
    write(tmp_path, {name: BAD + code for name, code in new.items()})
    report = check(tmp_path)
    unread = set(errors(report))
    assert unread <= {"quotes.py"}, report["errors"]  # libcst reads them from 1.5 on, or says that it cannot
    assert places(report) == [("TL101", name, 4, 40) for name in sorted(set(new) - unread)]


def test_what_nests_deeper_than_a_parser_can_follow(tmp_path: Path) -> None:
    many = 5000
    deep = {
        "parentheses": "(" * many + "1" + ")" * many,
        "unclosed": "(" * many,
        "lists": "[" * many + "]" * many,
        "dicts": "{1:" * many + "1" + "}" * many,
        "arguments": "f(" * many + "1" + ")" * many,
        "subscripts_inside": "a[" * many + "1" + "]" * many,
        "walrus": "(a := " * many + "1" + ")" * many,
        "attributes": "a" + ".b" * many,
        "calls": "a" + "()" * many,
        "chain": "a" + ".b(1)" * many,
        "subscripts": "a" + "[0]" * many,
        "sum": " + ".join(["a"] * many),
        "power": " ** ".join(["a"] * many),
        "conjunction": " and ".join(["a"] * many),
        "comparison": " < ".join(["a"] * many),
        "negation": "not " * many + "a",
        "minus": "-" * many + "a",
        "conditional": "a if b else " * many + "c",
        "lambdas": "lambda a, b: " * many + "c",
        "strings": '"a" ' * many,
        "lines": "(" + '"a"\n' * many + ")",
        "comprehension": "[a" + " for a in b" * many + "]",
    }
    files: dict[str, str | bytes] = {f"{name}.py": f"{HEAD}x = {text}\n" for name, text in deep.items()}
    files |= {
        "pattern.py": HEAD + "match x:\n case " + "[" * 50 + "a" + "]" * 50 + ": pass\n",
        "indented.py": HEAD + "".join(" " * i + "if x:\n" for i in range(1000)) + " " * 1000 + "pass\n",
        "functions.py": HEAD + "".join(" " * i + "def f():\n" for i in range(1000)) + " " * 1000 + "pass\n",
        "no_training.py": "x = " + "(" * many + ")" * many + "\n",
    }
    said = beside_known_bad(tmp_path, files)
    assert set(said) == set(files)
    assert {said[f"{name}.py"][1] for name in deep} == {"nested too deeply to be read"}


def test_what_nests_deeply_but_not_too_deeply(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.py": BAD + "x = " + "f(" * 90 + "1" + ")" * 90 + "\n",
            "b.py": BAD + "x = a" + ".b(1)" * 150 + "\n",
            "c.py": BAD + "x = " + " + ".join(["a"] * 450) + "\n",
            "d.py": BAD + "if a: pass\n" + "elif b == 1: y = 1\n" * 1500,
            "e.py": BAD + "x = [" + "-1.5, not a, lambda b, c: b + c, 'a' 'b',\n" * 1000 + "]\n",
            "f.py": BAD
            + "def f():\n" * 0
            + "".join(" " * i + "if x:\n" for i in range(90))
            + " " * 90
            + "pass\n",
        },
    )
    report = check(tmp_path)
    assert errors(report) == {}
    assert [path for _, path, _, _ in places(report)] == ["a.py", "b.py", "c.py", "d.py", "e.py", "f.py"]


def test_a_generated_file(tmp_path: Path) -> None:
    row = "table.append((0.123456, 'label', [1, 2, 3]))\n"
    big = HEAD + row * (5_000_000 // len(row))
    said = beside_known_bad(tmp_path, {"generated.py": big, "data.py": "x = '" + "a" * 5_000_000 + "'\n"})
    assert said == {"generated.py": (None, "too large to be read: 5.0 MB, and 1 MB is the most")}


def test_recursion_and_cycles(tmp_path: Path) -> None:
    said = beside_known_bad(
        tmp_path,
        {
            "calls.py": HEAD
            + "def f(x): return g(x)\ndef g(x): return f(x)\ndef h(x): return h(h(x))\n"
            + "criterion(f(1), 1).backward()\ncriterion(h(1), 1).backward()\n",
            "objects.py": HEAD
            + "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.b = B()\n"
            + "    def forward(self, x): return self.b(x)\n"
            + "class B(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = A()\n"
            + "    def forward(self, x): return self.a(x)\n"
            + "criterion(A()(1), 1).backward()\n",
            "itself.py": HEAD
            + "class A(A): pass\nclass B(C): pass\nclass C(B): pass\nclass D(Unknown): pass\n"
            "criterion(B()(1), A().x + C()(1) + D()(1)).backward()\n",
            "decorated.py": HEAD
            + "def d(f): return d(f)\n@d\ndef f(x): return f(x)\ncriterion(f(1), 1).backward()\n",
            "one.py": "from two import *\nimport two\n"
            + HEAD
            + "criterion(two.f(1), 1).backward()\ndef f(x): return two.f(x)\n",
            "two.py": "from one import *\nimport one\n"
            + HEAD
            + "criterion(one.f(1), 1).backward()\ndef f(x): return one.f(x)\n",
            "myself.py": "import myself\nfrom myself import myself as m, f\n" + HEAD + "m.f(m)\n",
            "pkg/__init__.py": "from . import *\nfrom .a import *\nfrom . import a, b, pkg\n" + HEAD,
            "pkg/a.py": "from . import *\nfrom .b import *\nfrom .. import pkg\n"
            + HEAD
            + "criterion(f(1), 1).backward()\n",
            "pkg/b.py": "from . import *\nfrom .a import *\nfrom ....... import far\n"
            + HEAD
            + "def f(x): return g(x)\n",
        },
    )
    assert said == {}


def test_containers_that_hold_themselves(tmp_path: Path) -> None:
    code = "a = []\na.append(a)\nd = {}\nd['d'] = d\nm = nn.Sequential()\nm.append(m)\nm.m = m\n"
    said = beside_known_bad(tmp_path, {"itself.py": HEAD + code + "criterion(m(a), d).backward()\n"})
    assert said == {}


def test_a_link_to_itself(tmp_path: Path) -> None:
    os.symlink("self.py", tmp_path / "self.py")
    assert beside_known_bad(tmp_path, {}) == {}


def test_a_module_that_is_called_torch(tmp_path: Path) -> None:
    write(
        tmp_path, {"torch.py": "raise SystemExit('not torch')\n", "torch/nn.py": "1 +\n", "known_bad.py": BAD}
    )
    report = check(tmp_path)
    assert FOUND in places(report)
    assert set(errors(report)) == {"torch/nn.py"}


def test_what_is_not_a_file(tmp_path: Path) -> None:
    imports = "import folder, dangling, pipe, loop.known_bad\n"
    write(tmp_path, {"known_bad.py": BAD, "imports.py": imports + HEAD, "folder.py/inside.py": "x = 1\n"})
    os.symlink("nowhere.py", tmp_path / "dangling.py")
    os.symlink(tmp_path, tmp_path / "loop", target_is_directory=True)
    os.symlink("..", tmp_path / "folder.py" / "up", target_is_directory=True)
    os.mkfifo(tmp_path / "pipe.py")
    report = check(tmp_path)
    assert (places(report), report["errors"], report["summary"]["files"]) == ([FOUND], [], 3)
    named = check(tmp_path, "pipe.py", "known_bad.py", "loop")
    assert places(named)[0] == FOUND
    assert errors(named) == {"pipe.py": (None, "cannot be read: not a file")}
    assert errors(check(tmp_path, "pipe.py", status=2)) == errors(named)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    write(tmp_path, {"secret.py": BAD})
    (tmp_path / "secret.py").chmod(0)
    assert beside_known_bad(tmp_path, {}) == {"secret.py": (None, "cannot be read: Permission denied")}


def test_nothing_could_be_checked(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": HEAD + "x = (\n"})
    report = check(tmp_path, status=2)
    assert (list(errors(report)), report["findings"]) == (["a.py"], [])


@pytest.mark.parametrize("arguments", [["nowhere.py"], ["empty"], [""], ["known_bad.py", "nowhere"]])
def test_wrong_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    write(tmp_path, {"known_bad.py": BAD, "empty/notes.txt": ""})
    monkeypatch.chdir(tmp_path / "empty" if arguments == [""] else tmp_path)
    outcome = CliRunner().invoke(app, ["check", "--no-cache", *arguments])
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("error: ")
    assert "Traceback" not in outcome.stderr


def test_no_paths_mean_the_working_directory(tmp_path: Path) -> None:
    write(tmp_path, {"known_bad.py": BAD})
    assert places(check(tmp_path)) == [FOUND]


def _broken(_: object) -> Iterator[Finding]:
    raise KeyError("oh no")


def test_a_rule_that_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"known_bad.py": BAD})
    monkeypatch.chdir(tmp_path)
    real = entries()
    tl101 = next(one for one in real if one.code == "TL101")
    broken = Entry(Path("tl001_broken"))
    broken.__dict__["rule"] = Rule(tl101.rule.fact, _broken, "error")
    monkeypatch.setattr(judging, "entries", lambda: (broken, *real))
    outcome = CliRunner().invoke(app, ["check", "--no-cache", "--output-format", "json"])
    report = json.loads(outcome.stdout)
    assert outcome.exit_code == 1
    assert places(report) == [FOUND]
    (error,) = report["errors"]
    assert error["path"] == "known_bad.py"
    assert error["message"].startswith("rule TL001 failed, which is a bug in trainlint: KeyError('oh no')")
