"""Layers that were never called, under a name that no line of the program reads."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from trainlint.facts.model.modules import BY_ANY_NAME, Unread

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def unread(recorder: Recorder) -> Iterator[Unread]:
    """What of the models nothing reads. Files are only looked into where a layer was not called."""
    sources: list[str] | None = None
    for root in recorder.models.all():
        for module in root.modules():
            made = recorder.objects.of(module)
            if made.definition is None:
                continue
            for name, layer in module.named_children():
                held = recorder.objects.of(layer)
                if held.at is None or not _is_idle(recorder, layer):
                    continue
                sources = _sources(recorder) if sources is None else sources
                if not any(_reads(text, name, type(module)) for text in sources):
                    yield Unread(held.at, made.type, name, held.type.removeprefix("torch."), 0)


def _is_idle(recorder: Recorder, layer: torch.nn.Module) -> bool:
    trainable = [one for one in layer.parameters() if one.requires_grad]
    called = any(recorder.lives.order_of(one) is not None for one in layer.modules())
    return bool(trainable) and not called and all(one.grad is None for one in trainable)


def _sources(recorder: Recorder) -> list[str]:
    """The texts of all files of the program that were imported."""
    return ["".join(linecache.getlines(file)) for file in recorder.own.imported()]


def _reads(text: str, name: str, kind: type) -> bool:
    """Whether a file reads an attribute of this name, or may come by it in another way."""
    if name not in text and f"class {kind.__name__}" not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return True
    word = re.compile(rf"\b{re.escape(name)}\b")
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=attribute, ctx=ast.Load()) if attribute == name:
                return True
            case ast.Constant(value=str(said)) if len(said) < 80 and word.search(said):
                return True
            case ast.ClassDef(name=found) if found in {base.__name__ for base in kind.__mro__}:
                if not BY_ANY_NAME.isdisjoint(_names(node)):
                    return True
    return False


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
