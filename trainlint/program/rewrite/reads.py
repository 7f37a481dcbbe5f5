"""Who reads what an expression is assigned to."""

from __future__ import annotations

import libcst as cst

from trainlint.program.rewrite.names import is_stored
from trainlint.program.rewrite.tree import Tree


def is_read_again(node: cst.CSTNode, tree: Tree) -> bool:
    """Whether an expression becomes a variable that its function reads more than once behind it: what is changed for the one
    would be changed for the others."""
    match tree.parent(node):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if (
            value is node
        ):
            pass
        case _:
            return False
    scope = next(one for one in tree.around(node) if isinstance(one, (cst.FunctionDef, cst.Module)))
    return sum(_is_read(one, name, tree) and tree.is_behind(one, node) for one in _inside(scope)) > 1


def _inside(node: cst.CSTNode) -> list[cst.CSTNode]:
    found = [node]
    for one in found:
        found.extend(one.children)
    return found


def _is_read(node: cst.CSTNode, name: str, tree: Tree) -> bool:
    if not isinstance(node, cst.Name) or node.value != name:
        return False
    parent = tree.parent(node)
    is_name_of_other = (isinstance(parent, cst.Attribute) and parent.attr is node) or (
        isinstance(parent, cst.Arg) and parent.keyword is node
    )
    return not is_name_of_other and not is_stored(node, parent)
