"""libcst's expressions to those of `syntax`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trainlint.facts.api.losses import IGNORED
from trainlint.facts.api.spoken import SPOKEN
from trainlint.program.source import syntax as s
from trainlint.program.source.literals import CONSTANTS, OPERATORS, literal
from trainlint.program.source.parser import nodes as cst
from trainlint.program.source.tokens import Tokens

if TYPE_CHECKING:
    import libcst as cst

_WORD = re.compile(r"[^\W\d]\w*")
_LONGEST_PATH = 80
"""Characters of a string that may be the path of an attribute."""


def _plain(parts: Sequence[Any]) -> str:
    """The text of a part of an f-string that is no expression."""
    return "".join(getattr(part, "value", None) or "" for part in parts)


class ExpressionReader:
    """Reads expressions in the order of the text, and notes the names in them."""

    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text)
        self._called: set[str] = set()
        self._names: set[str] = set()
        self._free: set[str] = set()
        """Of the names, the plain ones."""
        self._attributes: set[str] = set()
        self._reads: set[str] = set()
        self._yields = False

    def _expr(self, node: Any) -> s.Expr:
        if not node.lpar:
            return _EXPRESSIONS[type(node)](self, node)  # type: ignore[no-any-return]
        opened = [self._tokens.enter("(") for _ in node.lpar]
        expr: s.Expr = _EXPRESSIONS[type(node)](self, node)
        end = [self._tokens.leave(one) for one in reversed(opened)][-1]
        expr.at = (self._tokens.start_of(opened[0]), end)
        return expr

    def _name(self, node: cst.Name) -> s.Expr:
        name = sys.intern(node.value)
        at = self._tokens.take(name)
        if name in SPOKEN:
            self._reads.add(name)
        if name in CONSTANTS:
            return s.Constant(CONSTANTS[name], at)
        self._names.add(name)
        self._free.add(name)
        return s.Name(name, at)

    def _attribute(self, node: cst.Attribute) -> s.Expr:
        value = self._expr(node.value)
        name = sys.intern(node.attr.value)
        self._names.add(name)
        self._attributes.add(name)
        self._reads.add(name)
        return s.Attribute(value, name, (value.at[0], self._tokens.take(name)[1]))

    def _number(self, node: cst.Integer | cst.Float | cst.Imaginary) -> s.Expr:
        at = self._tokens.take(node.value)
        return s.Constant(literal(node.value), at)

    def _string(self, node: cst.SimpleString) -> s.Expr:
        at = self._tokens.take(node.value)
        value = literal(node.value)
        if isinstance(value, str) and len(value) < _LONGEST_PATH:
            self._reads.update(_WORD.findall(value))
        return s.Constant(value, at)

    def _concatenated(self, node: cst.ConcatenatedString) -> s.Expr:
        left, right = self._expr(node.left), self._expr(node.right)
        at = (left.at[0], right.at[1])
        match left, right:
            case s.Constant(value=str(a)), s.Constant(value=str(b)):
                return s.Constant(a + b, at)
            case s.Constant(value=bytes(a)), s.Constant(value=bytes(b)):
                return s.Constant(a + b, at)
        return s.Text((left, right), at)

    def _formatted(self, node: Any) -> s.Expr:
        at = self._tokens.take_string(node.start)
        parts: list[s.Expr] = []
        pending = list(node.parts)
        with self._tokens.held():
            while pending:
                part = pending.pop(0)
                expression = getattr(part, "expression", None)
                if expression is not None:
                    parts.append(self._expr(expression))
                    pending.extend(part.format_spec or ())
        return s.Text(tuple(parts), at, _plain(node.parts[:1]), _plain(node.parts[-1:]))

    def _ellipsis(self, node: cst.Ellipsis) -> s.Expr:
        return s.Constant(..., self._tokens.here())

    def _call(self, node: cst.Call) -> s.Expr:
        func = self._expr(node.func)
        if isinstance(func, (s.Name, s.Attribute)):
            self._called.add(func.name)
        opened = self._tokens.enter("(")
        is_setattr = isinstance(func, s.Name) and func.name == "setattr"
        before = frozenset(self._reads if is_setattr else ())
        args = tuple(self._argument(arg) for arg in node.args)
        at = (func.at[0], self._tokens.leave(opened))
        match func, args:
            case s.Name(name="setattr"), (_, s.Argument(s.Constant(value=str(name)), None, ""), _):
                self._names.add(name)
                self._attributes.add(name)
                self._reads -= {name} - before  # it is set, and not read
            case s.Name(name="getattr"), (
                s.Argument(owner, None, ""),
                s.Argument(s.Constant(value=str(name)), None, ""),
            ) if name.isidentifier():  # `getattr(optimizer, "step")` is `optimizer.step`
                self._names.add(name)
                self._attributes.add(name)
                return s.Attribute(owner, name, at)
        return s.Call(func, args, at)

    def _argument(self, node: cst.Arg) -> s.Argument:
        keyword = sys.intern(node.keyword.value) if node.keyword is not None else None
        if keyword is not None:
            self._tokens.take(keyword)
            self._names.add(keyword)
            if keyword in SPOKEN:
                self._reads.add(keyword)
        return s.Argument(self._expr(node.value), keyword, node.star)

    def _subscript(self, node: cst.Subscript) -> s.Expr:
        value = self._expr(node.value)
        opened = self._tokens.enter("[")
        items = tuple(self._index(element.slice) for element in node.slice)
        at = (value.at[0], self._tokens.leave(opened))
        single = len(items) == 1 and not isinstance(node.slice[0].comma, cst.Comma)
        return s.Subscript(value, items[0] if single else s.Collection("tuple", items, at), at)

    def _index(self, node: cst.BaseSlice) -> s.Expr:
        if isinstance(node, cst.Index):
            return self._expr(node.value)
        assert isinstance(node, cst.Slice)
        bounds = [self._expr(part) for part in (node.lower, node.upper, node.step) if part is not None]
        given = [part is not None for part in (node.lower, node.upper, node.step)]
        here = self._tokens.here()
        kept = iter(bounds)
        return s.Operation("[:]", tuple(next(kept) if has else s.Constant(None, here) for has in given), here)

    def _tuple(self, node: cst.Tuple) -> s.Expr:
        items = tuple(self._element(item) for item in node.elements)
        if not items:
            return s.Collection("tuple", (), self._tokens.here())
        return s.Collection("tuple", items, (items[0].at[0], items[-1].at[1]))

    def _list(self, node: cst.List | cst.Set) -> s.Expr:
        kind, bracket = ("list", "[") if isinstance(node, cst.List) else ("set", "{")
        opened = self._tokens.enter(bracket)
        items = tuple(self._element(item) for item in node.elements)
        start = self._tokens.start_of(opened)
        return s.Collection(kind, items, (start, self._tokens.leave(opened)))

    def _element(self, node: cst.BaseElement) -> s.Expr:
        value = self._expr(node.value)
        return s.Starred(value, value.at) if isinstance(node, cst.StarredElement) else value

    def _dict(self, node: cst.Dict) -> s.Expr:
        opened = self._tokens.enter("{")
        items: list[tuple[s.Expr | None, s.Expr]] = []
        for item in node.elements:
            if isinstance(item, cst.DictElement):
                key = self._expr(item.key)
                items.append((key, self._expr(item.value)))
            else:
                items.append((None, self._expr(item.value)))
        start = self._tokens.start_of(opened)
        return s.Mapping(tuple(items), (start, self._tokens.leave(opened)))

    def _binary(self, node: cst.BinaryOperation | cst.BooleanOperation) -> s.Expr:
        # A long sum nests to the left: walk it down in a loop, not in a recursion.
        chain = [node]
        while type(left := chain[-1].left) is type(node) and not left.lpar:
            chain.append(left)
        result = self._expr(chain[-1].left)
        for link in reversed(chain):
            right = self._expr(link.right)
            operator = OPERATORS[type(link.operator)]
            result = s.Operation(operator, (result, right), (result.at[0], right.at[1]))
        return result

    def _unary(self, node: cst.UnaryOperation) -> s.Expr:
        operand = self._expr(node.expression)
        operator = OPERATORS[type(node.operator)]
        if operator == "-" and isinstance(operand, s.Constant) and isinstance(operand.value, (int, float)):
            if operand.value == -IGNORED:
                self._reads.add(str(IGNORED))
            return s.Constant(-operand.value, operand.at)
        return s.Operation(operator, (operand,), operand.at)

    def _comparison(self, node: cst.Comparison) -> s.Expr:
        left = self._expr(node.left)
        links: list[s.Expr] = []
        for target in node.comparisons:
            right = self._expr(target.comparator)
            links.append(
                s.Operation(OPERATORS[type(target.operator)], (left, right), (left.at[0], right.at[1]))
            )
            left = right
        result = links[0]
        for link in links[1:]:
            result = s.Operation("and", (result, link), (result.at[0], link.at[1]))
        return result

    def _conditional(self, node: cst.IfExp) -> s.Expr:
        then = self._expr(node.body)
        test = self._expr(node.test)
        otherwise = self._expr(node.orelse)
        return s.Conditional(test, then, otherwise, (then.at[0], otherwise.at[1]))

    def _lambda(self, node: cst.Lambda) -> s.Expr:
        at = self._tokens.take("lambda")
        parameters = self._parameters(node.params)
        body = self._expr(node.body)
        at = (at[0], body.at[1])
        return s.Lambda(
            s.Function("<lambda>", parameters, (s.Return(body, body.at),), (), False, frozenset(), at), at
        )

    def _comprehension(self, node: cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp) -> s.Expr:
        kind, bracket = _COMPREHENSIONS[type(node)]
        opened = self._tokens.enter(bracket) if bracket else -1
        key = self._expr(node.key) if isinstance(node, cst.DictComp) else None
        element = self._expr(node.value if isinstance(node, cst.DictComp) else node.elt)
        loops = tuple(self._loops(node.for_in))
        if bracket:
            at = (self._tokens.start_of(opened), self._tokens.leave(opened))
        else:  # the parentheses are those of a call, or `_expr` puts them around
            at = (element.at[0], loops[-1][1].at[1])
        return s.Comprehension(kind, key, element, loops, at)

    def _loops(self, node: cst.CompFor | None) -> Iterator[tuple[s.Expr, s.Expr, tuple[s.Expr, ...]]]:
        while node is not None:
            target = self._expr(node.target)
            iterable = self._expr(node.iter)
            yield target, iterable, tuple(self._expr(test.test) for test in node.ifs)
            node = node.inner_for_in

    def _walrus(self, node: cst.NamedExpr) -> s.Expr:
        target = self._expr(node.target)
        value = self._expr(node.value)
        return s.Walrus(target, value, (target.at[0], value.at[1]))

    def _await(self, node: cst.Await) -> s.Expr:
        return self._expr(node.expression)

    def _yield(self, node: cst.Yield) -> s.Expr:
        at = self._tokens.take("yield")
        self._yields = True
        if node.value is None:
            return s.Yield(None, at)
        is_from = isinstance(node.value, cst.From)
        value = self._expr(node.value.item if isinstance(node.value, cst.From) else node.value)
        return s.Yield(value, (at[0], value.at[1]), is_from)

    def _starred(self, node: cst.StarredElement) -> s.Expr:
        value = self._expr(node.value)
        return s.Starred(value, value.at)

    def _parameters(self, node: cst.Parameters) -> tuple[s.Parameter, ...]:
        found = [self._parameter(one) for one in (*node.posonly_params, *node.params)]
        if isinstance(node.star_arg, cst.Param):
            found.append(self._parameter(node.star_arg, "*"))
        for one in node.kwonly_params:
            found.append(self._parameter(one))
            found[-1].keyword_only = True
        if node.star_kwarg is not None:
            found.append(self._parameter(node.star_kwarg, "**"))
        return tuple(found)

    def _parameter(self, node: cst.Param, star: str = "") -> s.Parameter:
        self._tokens.take(node.name.value)
        annotation = self._expr(node.annotation.annotation) if node.annotation is not None else None
        default = self._expr(node.default) if node.default is not None else None
        return s.Parameter(node.name.value, default, annotation, star)


_COMPREHENSIONS: dict[type, tuple[str, str]] = {
    cst.ListComp: ("list", "["),
    cst.SetComp: ("set", "{"),
    cst.DictComp: ("dict", "{"),
    cst.GeneratorExp: ("generator", ""),
}
_EXPRESSIONS: dict[type, Any] = {
    cst.Name: ExpressionReader._name,
    cst.Attribute: ExpressionReader._attribute,
    cst.Integer: ExpressionReader._number,
    cst.Float: ExpressionReader._number,
    cst.Imaginary: ExpressionReader._number,
    cst.SimpleString: ExpressionReader._string,
    cst.ConcatenatedString: ExpressionReader._concatenated,
    cst.FormattedString: ExpressionReader._formatted,
    cst.Ellipsis: ExpressionReader._ellipsis,
    cst.Call: ExpressionReader._call,
    cst.Subscript: ExpressionReader._subscript,
    cst.Tuple: ExpressionReader._tuple,
    cst.List: ExpressionReader._list,
    cst.Set: ExpressionReader._list,
    cst.Dict: ExpressionReader._dict,
    cst.BinaryOperation: ExpressionReader._binary,
    cst.BooleanOperation: ExpressionReader._binary,
    cst.UnaryOperation: ExpressionReader._unary,
    cst.Comparison: ExpressionReader._comparison,
    cst.IfExp: ExpressionReader._conditional,
    cst.Lambda: ExpressionReader._lambda,
    cst.ListComp: ExpressionReader._comprehension,
    cst.SetComp: ExpressionReader._comprehension,
    cst.GeneratorExp: ExpressionReader._comprehension,
    cst.DictComp: ExpressionReader._comprehension,
    cst.NamedExpr: ExpressionReader._walrus,
    cst.Await: ExpressionReader._await,
    cst.Yield: ExpressionReader._yield,
    cst.StarredElement: ExpressionReader._starred,
}
if hasattr(cst, "TemplatedString"):
    _EXPRESSIONS[cst.TemplatedString] = ExpressionReader._formatted
