"""The graph of a model: by torch.fx where it can be traced, by torch.export, or from the calls that were recorded."""

from __future__ import annotations

import contextlib
import io
import warnings
import weakref
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
import torch.fx

from trainlint.facts.seen.pictures import GraphNode, Picture
from trainlint.trace.measure.again import LOST
from trainlint.trace.watch.recorder import Recorder

_MOST_ELEMENTS = 50_000_000
"""Parameters of a model beyond which nothing is exported."""

_MOST_NODES = 2_000
"""Nodes of a picture. A model of more modules is not traced at all: it would take minutes, and be cut."""


def pictures(recorder: Recorder) -> Iterator[Picture]:
    """One picture of each model that the recorded step called. Runs the model's code, so it comes last."""
    for root in recorder.models.all():
        name = recorder.objects.of(root).type
        with torch.no_grad(), _silence():
            graph, by, because = _traced(root, recorder.models.inputs.get(id(root)))
        nodes = _nodes(graph, root, by) if graph is not None else _calls(recorder, root)
        yield Picture(name, by, tuple(islice(nodes, _MOST_NODES)), because)


def _traced(
    root: torch.nn.Module, inputs: tuple[tuple[Any, ...], dict[str, Any]] | None
) -> tuple[torch.fx.Graph | None, str, str]:
    """A graph, what made it, and why the ways before that one could not."""
    if sum(1 for _ in root.modules()) > _MOST_NODES:
        return None, "calls", f"it has more than {_MOST_NODES:,} modules"
    try:
        return torch.fx.symbolic_trace(root).graph, "torch.fx", ""
    except Exception as error:
        because = f"torch.fx: {_first_line(error)}"
    if inputs is None or sum(one.numel() for one in root.parameters()) > _MOST_ELEMENTS:
        return None, "calls", because
    args, kwargs = _alive(inputs[0]), _alive(inputs[1])
    if args is LOST or kwargs is LOST:
        return None, "calls", f"{because}; its inputs are gone"
    try:
        return torch.export.export(root, args, kwargs, strict=False).graph, "torch.export", because
    except Exception as error:
        return None, "calls", f"{because}; torch.export: {_first_line(error)}"


def _nodes(graph: torch.fx.Graph, root: torch.nn.Module, by: str) -> Iterator[GraphNode]:
    """The nodes of a graph; each knows the module that it is in."""
    for node in graph.nodes:
        if node.op == "call_module":
            operation, module = type(root.get_submodule(str(node.target))).__name__, str(node.target)
        else:
            operation = getattr(node.target, "__name__", str(node.target))
            stack = node.meta.get("nn_module_stack") or {}
            module = str(next(reversed(stack.values()))[0]) if stack else ""
            operation = operation.split(".")[0] if by == "torch.export" else operation
            if node.op in ("placeholder", "get_attr", "output"):
                operation = node.op
        yield GraphNode(node.name, operation, module, tuple(one.name for one in node.all_input_nodes))


def _calls(recorder: Recorder, root: torch.nn.Module) -> Iterator[GraphNode]:
    """The modules that were called, each after the one before."""
    called = sorted(
        (order, path)
        for path, module in root.named_modules()
        if (order := recorder.lives.order_of(module)) is not None and not any(True for _ in module.children())
    )
    before: tuple[str, ...] = ()
    for _, path in called:
        yield GraphNode(path or "model", type(root.get_submodule(path)).__name__, path, before)
        before = (path or "model",)


def _alive(value: Any) -> Any:
    """The inputs again, where all of them still live; LOST otherwise."""
    if isinstance(value, weakref.ref):
        found = value()
        return LOST if found is None else found.detach()
    if isinstance(value, tuple):
        items = [_alive(one) for one in value]
        return LOST if any(one is LOST for one in items) else tuple(items)
    if isinstance(value, list):
        items = [_alive(one) for one in value]
        return LOST if any(one is LOST for one in items) else items
    if isinstance(value, dict):
        held = {name: _alive(one) for name, one in value.items()}
        return LOST if any(one is LOST for one in held.values()) else held
    return value


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """What a model prints when it is run once more is nobody's business."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:120]}" if lines else type(error).__name__
