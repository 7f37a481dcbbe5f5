"""Whether a model depends on its mode, as far as its classes say so by their text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache

from injected_edits import Edit

_LAYER = re.compile(
    r"(?:nn|F|functional)\.(?:Alpha)?[dD]ropout[123]?d?\b(?!\((?:p=)?0(?:\.0*)?[,)])"
    r"|\b(?:Dropout|(?:Sync)?BatchNorm[123]?d?|TransformerEncoderLayer|TransformerDecoderLayer|nn\.Transformer)\("
)
"""A layer that depends on the mode."""
_READY = re.compile(
    r"torchvision\.models|\bmodels\.(?:resnet|vgg|densenet|mobilenet|efficientnet|alexnet|inception|googlenet)|timm\."
    r"|from_pretrained"
)
"""Models of libraries that do."""
_HAS_LAYERS = re.compile(r"nn\.(?!Module\b)[A-Z]")


def matters(edit: Edit, text: str, texts: Sequence[str]) -> bool:
    """Whether all classes that a file may make its models of depend on the mode: those of the repository that it names, or,
    where it is given its model, all that the repository makes outside of other models. A share that is 0 unless somebody asks
    for more says nothing."""
    made = _made(text)
    ready = bool(_READY.search(text))
    classes = _classes(tuple(texts))
    own = {name for name in made if name in classes}
    if not own and not ready:
        own = {name for one in texts for name in _made(one) if name in classes}
    depending = _depending(tuple(texts))
    return bool(own or ready) and own <= depending


@lru_cache(maxsize=256)
def _made(text: str) -> frozenset[str]:
    """The names of what is called outside of classes."""
    tree = _parsed(text)
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef) and _is_model(node):
            continue
        if isinstance(node, ast.Call):
            found |= {node.func.attr} if isinstance(node.func, ast.Attribute) else set()
            found |= {node.func.id} if isinstance(node.func, ast.Name) else set()
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset(found)


@lru_cache(maxsize=2)
def _classes(texts: tuple[str, ...]) -> dict[str, str]:
    """The text of each class of a model, by its name; losses and metrics are none."""
    return {
        node.name: segment
        for text in texts
        for node in ast.walk(_parsed(text))
        if isinstance(node, ast.ClassDef) and _is_model(node) and "loss" not in node.name.lower()
        if _HAS_LAYERS.search(segment := ast.get_source_segment(text, node) or "")
    }


@lru_cache(maxsize=2)
def _depending(texts: tuple[str, ...]) -> frozenset[str]:
    """The names of the classes that hold a layer which depends on the mode, or a class that does."""
    classes = _classes(texts)
    found = {name for name, text in classes.items() if _LAYER.search(text) or _READY.search(text)}
    before = -1
    while before < len(found):
        before = len(found)
        found |= {
            name for name, text in classes.items() if any(re.search(rf"\b{one}\b", text) for one in found)
        }
    return frozenset(found)


def _is_model(node: ast.ClassDef) -> bool:
    return any("Module" in ast.unparse(base) or "nn." in ast.unparse(base) for base in node.bases)


@lru_cache(maxsize=512)
def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])
