"""The classes, functions and methods of a file, with the lines that they stand on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from trainlint.check.naming import names
from trainlint.check.project_texts import ProjectTexts
from trainlint.project.soundness import tree

_KEYWORDS = {ast.ClassDef: "class ", ast.FunctionDef: "def ", ast.AsyncFunctionDef: "async def "}

_PLAIN = frozenset(("object", "ABC", "abc.ABC", "Module", "nn.Module", "torch.nn.Module"))
"""Classes that call of their own classes' methods only those that they have themselves."""

_ASKED_FOR = frozenset(
    "forward train eval to cuda cpu half float double apply parameters named_parameters buffers children modules state_dict "
    "load_state_dict zero_grad requires_grad_ extra_repr reset_parameters register_buffer get_extra_state set_extra_state "
    "fit transform predict step update write read flush close next reset render seed collate_fn callback main run".split()
)
"""Methods that torch asks modules for, or that others may ask an object for, whoever made it."""

_SINGLE = frozenset(("staticmethod", "classmethod"))

_LOOKS_UP = re.compile(
    rb"\b(?:get|has)attr\(\s*(?P<of>\w+)[\w.]*\s*,(?!\s*[rbu]?[\"'])|\b(?:attrgetter|methodcaller|getmembers|dir|vars)\(|\bfire\b|__dict__"
)
_TRAINS = re.compile(rb"\b(?:backward|manual_backward|training_step)\(")


class Definition(NamedTuple):
    """A class, function or method of a file, with its first and its last line, and where its first words end. `is_found`: others
    may find it without naming it."""

    name: bytes
    first: int
    last: int
    width: int
    is_found: bool = False

    def has(self, line: int) -> bool:
        return self.first <= line <= self.last


def definitions(text: bytes) -> Iterator[Definition]:
    """The classes and functions of a file."""
    for node in tree(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            is_found = bool(node.decorator_list) or node.name.lower().startswith(("test", "__"))
            yield _defined(node, is_found)


def _defined(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, is_found: bool) -> Definition:
    last, width = node.end_lineno or node.lineno, len(_KEYWORDS[type(node)]) + len(node.name)
    return Definition(node.name.encode(), node.lineno, last, width, is_found)


def beside(text: bytes, *defined: Definition) -> bytes:
    """What of a file does not stand in these definitions."""
    lines = text.splitlines()
    for one in defined:
        lines[one.first - 1 : one.last] = [b""] * (one.last - one.first + 1)
    return b"\n".join(lines)


def within(text: bytes, one: Definition) -> bytes:
    """What of a file stands in a definition."""
    return b"\n".join(text.splitlines()[one.first - 1 : one.last])


def trains(text: bytes) -> bool:
    """Whether code trains something itself: somebody has run it to do so, or will."""
    return _TRAINS.search(text) is not None


def uncalled_methods(path: str, text: bytes, lines: set[int], texts: ProjectTexts) -> list[Definition]:
    """The methods around some lines whose name stands nowhere in a project but in themselves, where no code looks up what an
    object has by a name that it computes. One that trains has been run by somebody."""
    found = [one for one in _methods(text) if any(one.has(line) for line in lines)]
    found = [one for one in found if not trains(within(text, one))]
    left = [
        one
        for one in found
        if not names(beside(text, one), one.name)
        and all(place == path for place, _ in texts.naming(one.name))
    ]
    return [] if left and any(map(_looks_up, texts.looking_up())) else left


def _methods(text: bytes) -> Iterator[Definition]:
    """The methods that nobody calls who does not name them."""
    for cls in tree(text).body:
        if not isinstance(cls, ast.ClassDef) or cls.decorator_list or cls.keywords:
            continue
        if not all(ast.unparse(one) in _PLAIN for one in cls.bases):
            continue
        for node in cls.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith(
                ("__", "test", "on_", "visit_")
            ):
                is_plain = all(ast.unparse(one) in _SINGLE for one in node.decorator_list)
                if is_plain and node.name not in _ASKED_FOR:
                    yield _defined(node, is_found=False)


def _looks_up(text: bytes) -> bool:
    """Whether code looks up attributes of something that it has not imported, by names that it computes."""
    found = list(_LOOKS_UP.finditer(text))
    return bool(found) and not {one["of"] for one in found} <= set(_imported(text))


def _imported(text: bytes) -> Iterator[bytes]:
    """The names under which a file has what it imports."""
    for node in ast.walk(tree(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((one.asname or one.name.partition(".")[0]).encode() for one in node.names)
