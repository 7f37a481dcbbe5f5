"""Which files of a project import another one, and which words stand in their texts."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from trainlint.project.soundness import complaint, tree

CODE = (".py", ".ipynb")

WORD = re.compile(rb"[^\W\d]\w*")
_DOTTED = re.compile(rb"[^\W\d][\w.]*")
_IMPORTS = re.compile(
    rb"\bfrom[ \t]+([\w.]+)[ \t]+import[ \t]*(\([\w\s,]*|[\w \t,]*)|\bimport[ \t]+([\w \t.,]+)"
)


def names(text: bytes, name: bytes) -> bool:
    """Whether a word stands in a text. In a notebook, a tab or the end of a line is a letter behind a backslash."""
    return name in text and re.search(rb"(?:(?<!\w)|(?<=\\[tn]))" + name + rb"(?!\w)", text) is not None


_NEVER_RUNS = ("unexpected indent", "unindent does not match", "expected an indented block")
"""What Python says of code that no version of it has ever run. Of tabs and spaces they think differently."""


def what_runs(text: bytes) -> bytes:
    """Code of which what is commented out names nothing, nor does anything where it cannot run."""
    said = complaint(text)
    if said is not None and said.message.startswith(_NEVER_RUNS):
        return b""
    return re.sub(rb"^[ \t]*#[^\n]*", b"", text, flags=re.MULTILINE)


@lru_cache(maxsize=128)
def without_imports(text: bytes) -> bytes:
    """Code without the statements that only bring names from elsewhere: on their own they use nothing."""
    lines = text.splitlines()
    for node in ast.walk(tree(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            last = node.end_lineno or node.lineno
            lines[node.lineno - 1 : last] = [b""] * (last - node.lineno + 1)
    return b"\n".join(lines)


def stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".py")


def module_name(path: str) -> str:
    """The name under which a file is imported: of a package, that of its folder."""
    return stem(path.removesuffix("/__init__.py"))


def imports(other: str, text: bytes, path: str, is_only: bool) -> bool:
    """Whether a file imports another one: from beside it, by a name with the folders that it lies in, or from wherever it is
    the only one of its name."""
    module = path.removesuffix(".py").removesuffix("/__init__")
    parts = module.split("/")
    is_found = is_only or os.path.dirname(other) == os.path.dirname(module)
    for dotted in imported(text):
        named = [one for one in dotted.split(".") if one]
        is_full = len(named) > 1 or dotted.startswith(".") or is_found
        if named and is_full and parts[-len(named) :] == named:
            return True
    return False


def may_mean(other: str, text: bytes, path: str, copies: Sequence[str]) -> bool:
    """Whether a file that names a module may mean this one, of several files of that name: code says in which folder it lies,
    or takes the nearest that is not itself."""
    if not other.endswith(CODE) or _names_folder(text, path) or _leads_to(text, other, path):
        return True
    shared = {one: len(_common(one, other)) for one in (path, *copies) if one != other}
    return path == other or shared[path] == max(shared.values())


def _leads_to(text: bytes, other: str, path: str) -> bool:
    """Whether code imports a file by the way that leads to it: `from ..nets import Net`."""
    module = os.path.normpath(path.removesuffix(".py").removesuffix("/__init__"))
    for dotted in imported(text):
        name = dotted.lstrip(".")
        up = [".."] * (len(dotted) - len(name) - 1)
        if (
            name != dotted
            and os.path.normpath(os.path.join(os.path.dirname(other), *up, *name.split("."))) == module
        ):
            return True
    return False


def _names_folder(text: bytes, path: str) -> bool:
    """Whether code imports a file by the folder that it lies in too: `from first.nets import Net`."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")[-2:]
    return len(parts) > 1 and any(one.split(".")[-2:] == parts for one in imported(text) if one[0] != ".")


def _common(one: str, other: str) -> str:
    """The folder that holds two files; nothing where they lie on different drives."""
    try:
        return os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in (one, other)])
    except ValueError:
        return ""


def imported(text: bytes) -> Iterator[str]:
    """The modules that code may import, as it names them."""
    for package, listed, modules in _IMPORTS.findall(text):
        words = [one.decode() for one in WORD.findall(listed)]
        yield from (one.decode() for one in _DOTTED.findall(modules))
        if package:
            yield package.decode()
            yield from (f"{package.decode().rstrip('.')}.{one}" for one in words)
