"""What the names in a file mean by its imports, and how it would write a name."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from trainlint.program.rewrite.tree import Tree

_SCOPES = (
    cst.Module,
    cst.ClassDef,
    cst.FunctionDef,
    cst.Lambda,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.GeneratorExp,
)
_STORES = {
    cst.AssignTarget: "target",
    cst.AnnAssign: "target",
    cst.AugAssign: "target",
    cst.For: "target",
    cst.CompFor: "target",
    cst.NamedExpr: "target",
    cst.AsName: "name",
    cst.Param: "name",
    cst.Del: "target",
}


def is_stored(node: cst.CSTNode, parent: cst.CSTNode) -> bool:
    """Whether a node is what something is assigned to, or deleted."""
    field = _STORES.get(type(parent))
    return field is not None and getattr(parent, field) is node


class Names:
    """The imports of a file, and the names that it uses for other things; how it would write something new."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._bound: dict[int, dict[str, str | None]] = {id(tree.module): {}}
        """For each scope, the full name that a name is imported as; None where it is something else, too."""
        for node in tree.nodes:
            if isinstance(node, (cst.Import, cst.ImportFrom)):
                for name, full in _imported(node):
                    self._bind(node, name, None if self._is_for_types(node) else full)
            elif isinstance(node, (cst.FunctionDef, cst.ClassDef)):
                self._bind(node, node.name.value, None)
            elif type(node) in _STORES and not isinstance(tree.parent(node), cst.ImportAlias):
                for name in _stored(getattr(node, _STORES[type(node)])):
                    self._bind(node, name, None)

    @property
    def quote(self) -> str:
        """The quotation mark of the file's strings."""
        return self._tree.quote

    def full(self, node: cst.BaseExpression) -> str | None:
        """`torch.nn.Linear` for what the file calls `nn.Linear`; None for what is no name of a library's."""
        if isinstance(node, cst.Name):
            return self._meaning(node, node.value)
        if isinstance(node, cst.Attribute):
            inner = self.full(node.value)
            return None if inner is None else f"{inner}.{node.attr.value}"
        return None

    def is_torchs(self, node: cst.BaseExpression) -> bool:
        """Whether a name is imported from torch, or by an `import *` that does not say."""
        root = _dotted(node).partition(".")[0]
        full = self.full(node) or ""
        return full.startswith(("torch", "functorch")) or bool(full and root not in self._visible(node))

    def written(
        self, full: str, where: cst.CSTNode, instead: cst.BaseExpression | None = None
    ) -> tuple[str, str | None] | None:
        """How a full name is written at a node, and the module to import for it, if any; None if it cannot be.

        Args:
            instead: the name that it takes the place of: what that begins with is kept if it can be.
        """
        root = _dotted(instead).partition(".")[0] if instead is not None else ""
        meaning = self._meaning(where, root)
        if root and meaning is not None and f"{full}.".startswith(f"{meaning}."):
            return root + full.removeprefix(meaning), None
        best: tuple[str, str] | None = None
        for name, meaning in self._visible(where).items():
            fits = meaning is not None and f"{full}.".startswith(f"{meaning}.")
            if meaning is not None and fits and (best is None or len(meaning) > len(best[1])):
                best = name, meaning
        if best is not None:
            return best[0] + full.removeprefix(best[1]), None
        root = full.partition(".")[0]
        return None if root in self._visible(where) else (full, root)

    def _visible(self, where: cst.CSTNode) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for scope in self._scopes(where):
            found = {**self._bound.get(id(scope), {}), **found}
        return found

    def _meaning(self, where: cst.CSTNode, name: str) -> str | None:
        for scope in self._scopes(where):
            bound = self._bound.get(id(scope), {})
            if name in bound:
                return bound[name]
        return name

    def _scopes(self, where: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Scopes around a node, innermost first; a class around a function is none."""
        in_function = False
        for node in self._tree.around(where):
            if isinstance(node, _SCOPES) and not (in_function and isinstance(node, cst.ClassDef)):
                yield node
            in_function = in_function or isinstance(node, (cst.FunctionDef, cst.Lambda))

    def _bind(self, node: cst.CSTNode, name: str, full: str | None) -> None:
        scope = next(one for one in self._tree.around(node) if isinstance(one, _SCOPES))
        bound = self._bound.setdefault(id(scope), {})
        bound[name] = full if bound.get(name, full) == full else None

    def _is_for_types(self, node: cst.CSTNode) -> bool:
        """Whether an import is made for type checkers alone."""
        tests = (one.test for one in self._tree.around(node) if isinstance(one, cst.If))
        return any(_dotted(test).rpartition(".")[2] == "TYPE_CHECKING" for test in tests)


def _imported(node: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, str | None]]:
    if isinstance(node.names, cst.ImportStar):
        return
    inside = ""
    if isinstance(node, cst.ImportFrom):
        inside = "." * len(node.relative) + (_dotted(node.module) + "." if node.module else "")
    for alias in node.names:
        name = _dotted(alias.name)
        if alias.asname is not None:
            yield _dotted(alias.asname.name), inside + name
        elif isinstance(node, cst.Import):
            yield name.partition(".")[0], name.partition(".")[0]
        else:
            yield name, inside + name


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _stored(node: cst.CSTNode) -> Iterator[str]:
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, (cst.Tuple, cst.List)):
        for element in node.elements:
            yield from _stored(element.value)
