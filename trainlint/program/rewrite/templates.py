"""Templates to source: holes filled with what a pattern has found, names written as the file writes them."""

from __future__ import annotations

import libcst as cst

from trainlint.program.rewrite.arguments import joined
from trainlint.program.rewrite.names import Names
from trainlint.program.rewrite.patterns import Found, dotted, is_hole, parsed

_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.List,
    cst.Dict,
    cst.Set,
    cst.ListComp,
    cst.DictComp,
    cst.SetComp,
    cst.BaseNumber,
    cst.BaseString,
)
_IN_BRACKETS = (cst.Arg, cst.Element, cst.Index, cst.DictElement)
_ALONE = (
    cst.Assign,
    cst.AnnAssign,
    cst.AugAssign,
    cst.Expr,
    cst.Return,
    cst.WithItem,
    cst.If,
    cst.While,
    cst.Assert,
)
_NEVER_BARE = (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield)


class CannotBeWritten(Exception):
    """A name of the template that the file uses for something else."""


class Filled:
    """A template as source for one place; `imports` are the modules that have to be imported for it."""

    def __init__(self, template: str, found: Found, names: Names, where: cst.CSTNode) -> None:
        self.imports: set[str] = set()
        filling = _Filling(found, names, where, self.imports)
        pattern = parsed(template)
        if isinstance(pattern, cst.BaseExpression):
            filling.bare.add(id(pattern))
        filled = pattern.visit(filling)
        assert isinstance(filled, (cst.BaseExpression, cst.BaseSmallStatement))
        self.node = filled


class _Filling(cst.CSTTransformer):
    def __init__(self, found: Found, names: Names, where: cst.CSTNode, imports: set[str]) -> None:
        super().__init__()
        self.bare: set[int] = set()
        """Holes in whose place any expression can stand."""
        self._found = found
        self._names = names
        self._where = where
        self._imports = imports

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return dotted(node) is None

    def visit_Arg(self, node: cst.Arg) -> None:
        self.bare.add(id(node.value))

    def visit_Assign(self, node: cst.Assign) -> None:
        self.bare |= {id(node.value), *(id(target.target) for target in node.targets)}

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self.bare |= {id(node.value), id(node.target)}

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        if not is_hole(original_node) or original_node.value not in self._found.holes:
            return updated_node
        put = self._found.holes[original_node.value]
        return put if id(original_node) in self.bare else parenthesized(put)

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        return updated_node.with_changes(value=updated_node.value.replace('"', self._names.quote))

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        full = dotted(original_node)
        if full is None:
            return updated_node
        written = self._names.written(full, self._where, self._found.holes.get("_imported"))
        if written is None:
            raise CannotBeWritten(full)
        source, module = written
        self._imports |= {module} if module is not None else set()
        return cst.parse_expression(source)

    def leave_Arg(
        self, original_node: cst.Arg, updated_node: cst.Arg
    ) -> cst.Arg | cst.FlattenSentinel[cst.Arg]:
        value = original_node.value
        if not isinstance(value, cst.Name):
            return updated_node
        if original_node.star and value.value in self._found.more:
            return cst.FlattenSentinel(self._found.more[value.value])
        if original_node.keyword is None and value.value in self._found.arguments:
            return self._found.arguments[value.value]
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        more = [one.value.value for one in original_node.args if one.star and isinstance(one.value, cst.Name)]
        like = self._found.calls.get(more[0]) if more else None
        if like is None:
            return joined(updated_node, updated_node.args, cst.SimpleWhitespace(""))
        kept = {id(one) for one in (*self._found.arguments.values(), *self._found.more[more[0]])}
        own = [one for one in updated_node.args if id(one) not in kept]
        call = joined(updated_node, own, like.whitespace_before_args)
        return call.with_changes(
            whitespace_after_func=like.whitespace_after_func,
            whitespace_before_args=like.whitespace_before_args if call.args else cst.SimpleWhitespace(""),
        )


def parenthesized(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression as it can stand before a dot or beside an operator."""
    if node.lpar or (isinstance(node, _ATOMS) and _holds_together(node)):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def fitting(node: cst.BaseExpression, parent: cst.CSTNode) -> cst.BaseExpression:
    """The expression as it can stand in a parent."""
    if node.lpar:
        return node
    if isinstance(parent, _IN_BRACKETS) and not isinstance(node, _NEVER_BARE):
        return node
    if isinstance(parent, _ALONE) and not isinstance(node, _NEVER_BARE) and _holds_together(node):
        return node
    return parenthesized(node)


def _holds_together(node: cst.BaseExpression) -> bool:
    """Whether no line ends outside the brackets of an expression."""
    code = cst.Module(body=()).code_for_node(node)
    if "\n" not in code and "\r" not in code:
        return True
    try:
        cst.parse_expression(code)
    except cst.ParserSyntaxError:
        return False
    return True
