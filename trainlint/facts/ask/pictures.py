"""Ways through the picture of a model: from a module to the output, and what cuts them."""

from __future__ import annotations

from collections import deque

from trainlint.facts.api.gradients import CUTS, NO_GRADIENT
from trainlint.facts.seen.pictures import GraphNode, Picture


def way_out(picture: Picture, module: str) -> tuple[GraphNode, ...]:
    """The nodes from a module to the model's output; empty where there is no way, or the picture is of calls alone."""
    if picture.by == "calls":
        return ()
    followers: dict[str, list[GraphNode]] = {}
    for node in picture.nodes:
        for before in node.inputs:
            followers.setdefault(before, []).append(node)
    starts = [node for node in picture.nodes if _is_inside(node, module)]
    came_from: dict[str, GraphNode | None] = {node.name: None for node in starts}
    pending = deque(starts)
    while pending:
        node = pending.popleft()
        if node.operation == "output":
            return _back(node, came_from)
        for follower in followers.get(node.name, ()):
            if follower.name not in came_from:
                came_from[follower.name] = node
                pending.append(follower)
    return ()


def cut_on(way: tuple[GraphNode, ...]) -> GraphNode | None:
    """The first operation on a way that no gradient passes."""
    return next((node for node in way if node.operation in CUTS or node.operation in NO_GRADIENT), None)


def shown(way: tuple[GraphNode, ...]) -> str:
    """A way in words: `encoder → relu → detach → head`."""
    names = list(dict.fromkeys(node.module or node.operation for node in way if node.operation != "output"))
    if len(names) > 9:
        names = [*names[:4], "…", *names[-4:]]
    return " → ".join(names)


def _is_inside(node: GraphNode, module: str) -> bool:
    return node.module == module or node.module.startswith(f"{module}.")


def _back(node: GraphNode, came_from: dict[str, GraphNode | None]) -> tuple[GraphNode, ...]:
    found: list[GraphNode] = []
    one: GraphNode | None = node
    while one is not None:
        found.append(one)
        one = came_from[one.name]
    return tuple(reversed(found))
