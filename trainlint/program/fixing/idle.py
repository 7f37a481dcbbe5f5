"""Assignments that fixes leave without effect: `x = x`, where a call around the second `x` is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import libcst as cst

from trainlint.program.fixing.depth import deep


def without_idle(before: str, after: str) -> str:
    """The fixed text of a file without the assignments that have become idle in it."""
    with deep():
        module = cst.parse_module(after)
        new = Counter(_idle(module)) - Counter(_idle(cst.parse_module(before)))
        return module.visit(_Removal(new)).code if new else after


def _idle(node: cst.CSTNode) -> Iterator[str]:
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, cst.Assign) and _is_idle(one):
            yield _code(one)
        pending.extend(one.children)


def _is_idle(node: cst.Assign) -> bool:
    if len(node.targets) != 1:
        return False
    names, values = _names(node.targets[0].target), _names(node.value)
    return names is not None and names == values and len(set(names)) == len(names)


def _names(node: cst.BaseExpression) -> list[str] | None:
    """Of a name, or of names with commas between."""
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, cst.Tuple):
        parts = [_names(element.value) for element in node.elements if isinstance(element.value, cst.Name)]
        return [name for part in parts for name in part or ()] if len(parts) == len(node.elements) else None
    return None


def _code(node: cst.CSTNode) -> str:
    return cst.Module(body=()).code_for_node(node)


class _Removal(cst.CSTTransformer):
    """Takes lines out that are one idle assignment and nothing else, not even a comment."""

    def __init__(self, wanted: Counter[str]) -> None:
        super().__init__()
        self._wanted = wanted

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return updated_node.with_changes(body=self._kept(updated_node.body))

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        return updated_node.with_changes(body=self._kept(updated_node.body))

    def _kept(self, statements: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
        kept = [one for one in statements if not self._goes(one)]
        return kept or list(statements)

    def _goes(self, line: cst.BaseStatement) -> bool:
        match line:
            case cst.SimpleStatementLine(body=[cst.Assign() as only]) if _is_idle(only):
                code = _code(only)
                has_comment = "#" in _code(line)
                if self._wanted[code] > 0 and not has_comment:
                    self._wanted[code] -= 1
                    return True
        return False
