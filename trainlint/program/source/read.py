"""libcst's tree of one file to the small tree of `syntax`, in one walk."""

from __future__ import annotations

import ast
import gc
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trainlint.program.source import syntax as s
from trainlint.program.source.displayed import displayed
from trainlint.program.source.nesting import too_deep
from trainlint.program.source.parser import nodes as cst
from trainlint.program.source.parser import parse
from trainlint.program.source.tokens import Tokens
from trainlint.project.soundness import complaint

if TYPE_CHECKING:
    import libcst as cst

_OPERATORS = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.BitInvert: "~",
    cst.Not: "not",
    cst.And: "and",
    cst.Or: "or",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}
_PREFIX = re.compile(r"^parser error: error at \d+:\d+: ")
_BRANCHES = 400
"""Of one `if`: each nests in the one before."""
_FRAMES = 8_000
"""Python frames that reading may nest: a few for each level that `too_deep` lets through."""
_WORD = re.compile(r"[^\W\d]\w*")
_LONGEST_PATH = 80
"""Characters of a string that may be the path of an attribute."""

_LINE = re.compile(r"\r\n|\r|\n")


class Unreadable(Exception):
    """A file that is not Python as libcst knows it; `line` is where reading stopped."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


def read(text: str) -> s.Module:
    """Parse a file's text. Raises `Unreadable`."""
    line = too_deep(text)
    if line is not None:
        raise Unreadable("nested too deeply to be read", line)
    collecting, depth = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()  # a parse only makes objects: collecting in between costs a fifth of the time
    sys.setrecursionlimit(max(depth, _FRAMES))
    try:
        tree = parse(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own, about escapes in the strings of the file
            return _Reader(text).module(tree)
    except cst.ParserSyntaxError as error:
        raise _rejected(text, error) from None
    except RecursionError:
        raise Unreadable("nested too deeply to be read", None) from None
    finally:
        sys.setrecursionlimit(depth)
        if collecting:
            gc.enable()


def _rejected(text: str, error: cst.ParserSyntaxError) -> Unreadable:
    """In Python's words, where it rejects the text too: they say more, and point at the very line."""
    said = complaint(text)
    if said is None or said.line is None:
        return Unreadable(f"syntax error: {_PREFIX.sub('', error.message)}", error.raw_line)
    return Unreadable(f"syntax error: {said.message}", said.line)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = Tokens(text)
        self._lines = (0, *(match.end() for match in _LINE.finditer(text)))
        self._imports: list[tuple[int, str, tuple[str, ...]]] = []
        self._called: set[str] = set()
        self._names: set[str] = set()
        self._reads: set[str] = set()
        self._yields = False

    def module(self, tree: cst.Module) -> s.Module:
        body = displayed(self._block(tree.body), self._text)
        return s.Module(
            body, self._lines, tuple(self._imports), frozenset(self._called), frozenset(self._reads)
        )

    # Statements

    def _block(self, statements: Sequence[Any]) -> s.Block:
        return tuple(one for statement in statements for one in self._statement(statement))

    def _suite(self, suite: Any) -> s.Block:
        return self._block(suite.body)

    def _statement(self, node: Any) -> Iterator[s.Statement]:
        reader = _STATEMENTS.get(type(node))
        if reader is not None:
            yield reader(self, node)
        elif isinstance(node, cst.SimpleStatementLine):
            yield from self._block(node.body)

    def _assign(self, node: cst.Assign) -> s.Statement:
        targets = tuple(self._target(target.target) for target in node.targets)
        value = self._expr(node.value)
        return s.Assign(targets, value, None, (targets[0].at[0], value.at[1]))

    def _ann_assign(self, node: cst.AnnAssign) -> s.Statement:
        target = self._target(node.target)
        annotation = self._expr(node.annotation.annotation)
        value = self._expr(node.value) if node.value is not None else None
        return s.Assign((target,), value, annotation, (target.at[0], (value or annotation).at[1]))

    def _target(self, node: Any) -> s.Expr:
        """What is assigned: an attribute that is set is not read."""
        name = node.attr.value if isinstance(node, cst.Attribute) else None
        is_new = name not in self._reads
        target = self._expr(node)
        if name is not None and is_new:
            self._reads.discard(name)
        return target

    def _aug_assign(self, node: cst.AugAssign) -> s.Statement:
        target = self._expr(node.target)
        value = self._expr(node.value)
        operator = type(node.operator).__name__
        return s.AugmentedAssign(
            target, _AUGMENTED.get(operator, operator), value, (target.at[0], value.at[1])
        )

    def _evaluate(self, node: cst.Expr) -> s.Statement:
        value = self._expr(node.value)
        if isinstance(value, s.Constant) and isinstance(value.value, str):
            value.value = ""  # a docstring: a third of some packages
        return s.Evaluate(value, value.at)

    def _return(self, node: cst.Return) -> s.Statement:
        at = self._tokens.take("return")
        value = self._expr(node.value) if node.value is not None else None
        return s.Return(value, (at[0], value.at[1] if value is not None else at[1]))

    def _raise(self, node: cst.Raise) -> s.Statement:
        at = self._tokens.take("raise")
        value = self._expr(node.exc) if node.exc is not None else None
        if node.cause is not None:
            self._expr(node.cause.item)
        return s.Raise(value, at)

    def _break(self, node: cst.Break) -> s.Statement:
        return s.Jump("break", self._tokens.take("break"))

    def _continue(self, node: cst.Continue) -> s.Statement:
        return s.Jump("continue", self._tokens.take("continue"))

    def _delete(self, node: cst.Del) -> s.Statement:
        at = self._tokens.take("del")
        target = self._expr(node.target)
        return s.Delete(target.items if isinstance(target, s.Collection) else (target,), at)

    def _assert(self, node: cst.Assert) -> s.Statement:
        at = self._tokens.take("assert")
        test = self._expr(node.test)
        if node.msg is not None:
            self._expr(node.msg)
        return s.Assert(test, at)

    def _if(self, node: cst.If, branches: int = 1) -> s.Statement:
        if branches > _BRANCHES:
            raise Unreadable(f"an `if` of more than {_BRANCHES} branches cannot be followed", None)
        test = self._expr(node.test)
        body = self._suite(node.body)
        orelse: s.Block = ()
        if isinstance(node.orelse, cst.If):
            orelse = (self._if(node.orelse, branches + 1),)
        elif node.orelse is not None:
            orelse = self._suite(node.orelse.body)
        return s.If(test, body, orelse, test.at)

    def _for(self, node: cst.For) -> s.Statement:
        at = self._tokens.take("for")
        target = self._expr(node.target)
        iterable = self._expr(node.iter)
        body = self._suite(node.body)
        return s.For(target, iterable, body, self._else(node.orelse), (at[0], iterable.at[1]))

    def _while(self, node: cst.While) -> s.Statement:
        at = self._tokens.take("while")
        test = self._expr(node.test)
        body = self._suite(node.body)
        return s.While(test, body, self._else(node.orelse), (at[0], test.at[1]))

    def _else(self, node: cst.Else | None) -> s.Block:
        return self._suite(node.body) if node is not None else ()

    def _with(self, node: cst.With) -> s.Statement:
        at = self._tokens.take("with")
        items = tuple(
            (self._expr(item.item), self._expr(item.asname.name) if item.asname is not None else None)
            for item in node.items
        )
        return s.With(items, self._suite(node.body), (at[0], items[-1][0].at[1]))

    def _try(self, node: cst.Try | cst.TryStar) -> s.Statement:
        at = self._tokens.take("try")
        body = self._suite(node.body)
        handlers = []
        for handler in node.handlers:
            catches = self._expr(handler.type) if handler.type is not None else None
            name = None
            if handler.name is not None:
                bound = self._expr(handler.name.name)
                name = bound.name if isinstance(bound, s.Name) else None
            handlers.append(s.Handler(catches, name, self._suite(handler.body)))
        orelse = self._else(node.orelse)
        final = self._suite(node.finalbody.body) if node.finalbody is not None else ()
        return s.Try(body, tuple(handlers), orelse, final, at)

    def _match(self, node: cst.Match) -> s.Statement:
        subject = self._expr(node.subject)
        cases = []
        for case in node.cases:
            bound = tuple(self._bound_names(case.pattern))
            if case.guard is not None:
                self._expr(case.guard)
            cases.append((bound, self._suite(case.body)))
        return s.Match(subject, tuple(cases), subject.at)

    def _bound_names(self, pattern: cst.CSTNode) -> Iterator[str]:
        if isinstance(pattern, (cst.MatchAs, cst.MatchStar)) and pattern.name is not None:
            yield pattern.name.value
        for child in pattern.children:
            yield from self._bound_names(child)

    def _function(self, node: cst.FunctionDef) -> s.Statement:
        decorators = tuple(self._expr(one.decorator) for one in node.decorators)
        self._tokens.take("def")
        at = self._tokens.take(node.name.value)
        parameters = self._parameters(node.params)
        returns = self._expr(node.returns.annotation) if node.returns is not None else None
        outer, outer_names = self._yields, self._names
        self._yields, self._names = False, set()
        body = self._suite(node.body)
        is_generator, names = self._yields, frozenset(self._names)
        outer_names |= names
        self._yields, self._names = outer, outer_names
        return s.Function(node.name.value, parameters, body, decorators, is_generator, names, at, returns)

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

    def _class(self, node: cst.ClassDef) -> s.Statement:
        decorators = tuple(self._expr(one.decorator) for one in node.decorators)
        self._tokens.take("class")
        at = self._tokens.take(node.name.value)
        bases = tuple(self._argument(one) for one in (*node.bases, *node.keywords))
        return s.Class(node.name.value, bases, self._suite(node.body), decorators, at)

    def _import(self, node: cst.Import) -> s.Statement:
        at = self._tokens.take("import")
        names = tuple(self._alias(alias) for alias in node.names)
        self._imports.extend((0, name, ()) for name, _ in names)
        return s.Import(names, at)

    def _import_from(self, node: cst.ImportFrom) -> s.Statement:
        at = self._tokens.take("from")
        module = self._dotted(node.module) if node.module is not None else ""
        self._tokens.take("import")
        names = (
            (("*", None),)
            if isinstance(node.names, cst.ImportStar)
            else tuple(self._alias(alias) for alias in node.names)
        )
        level = len(node.relative)
        self._imports.append((level, module, tuple(name for name, _ in names)))
        return s.ImportFrom(level, module, names, at)

    def _alias(self, node: cst.ImportAlias) -> tuple[str, str | None]:
        name = self._dotted(node.name)
        if node.asname is None:
            return name, None
        asname = self._expr(node.asname.name)
        return name, asname.name if isinstance(asname, s.Name) else None

    def _dotted(self, node: cst.BaseExpression) -> str:
        expr = self._expr(node)
        parts: list[str] = []
        while isinstance(expr, s.Attribute):
            parts.append(expr.name)
            expr = expr.value
        if isinstance(expr, s.Name):
            parts.append(expr.name)
        return ".".join(reversed(parts))

    def _global(self, node: cst.Global | cst.Nonlocal) -> s.Statement:
        at = self._tokens.take("global" if isinstance(node, cst.Global) else "nonlocal")
        kind = "global" if isinstance(node, cst.Global) else "nonlocal"
        return s.Scope(kind, tuple(item.name.value for item in node.names), at)

    # Expressions

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
        if name in _CONSTANTS:
            return s.Constant(_CONSTANTS[name], at)
        self._names.add(name)
        return s.Name(name, at)

    def _attribute(self, node: cst.Attribute) -> s.Expr:
        value = self._expr(node.value)
        name = sys.intern(node.attr.value)
        self._names.add(name)
        self._reads.add(name)
        return s.Attribute(value, name, (value.at[0], self._tokens.take(name)[1]))

    def _number(self, node: cst.Integer | cst.Float | cst.Imaginary) -> s.Expr:
        at = self._tokens.take(node.value)
        return s.Constant(_literal(node.value), at)

    def _string(self, node: cst.SimpleString) -> s.Expr:
        at = self._tokens.take(node.value)
        value = _literal(node.value)
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
        return s.Text(tuple(parts), at)

    def _ellipsis(self, node: cst.Ellipsis) -> s.Expr:
        return s.Constant(..., self._tokens.here())

    def _call(self, node: cst.Call) -> s.Expr:
        func = self._expr(node.func)
        if isinstance(func, (s.Name, s.Attribute)):
            self._called.add(func.name)
        opened = self._tokens.enter("(")
        args = tuple(self._argument(arg) for arg in node.args)
        at = (func.at[0], self._tokens.leave(opened))
        match func, args:
            case s.Name(name="getattr"), (
                s.Argument(owner, None, ""),
                s.Argument(s.Constant(value=str(name)), None, ""),
            ) if name.isidentifier():  # `getattr(optimizer, "step")` is `optimizer.step`
                self._names.add(name)
                return s.Attribute(owner, name, at)
        return s.Call(func, args, at)

    def _argument(self, node: cst.Arg) -> s.Argument:
        keyword = sys.intern(node.keyword.value) if node.keyword is not None else None
        if keyword is not None:
            self._tokens.take(keyword)
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
            operator = _OPERATORS[type(link.operator)]
            result = s.Operation(operator, (result, right), (result.at[0], right.at[1]))
        return result

    def _unary(self, node: cst.UnaryOperation) -> s.Expr:
        operand = self._expr(node.expression)
        operator = _OPERATORS[type(node.operator)]
        if operator == "-" and isinstance(operand, s.Constant) and isinstance(operand.value, (int, float)):
            return s.Constant(-operand.value, operand.at)
        return s.Operation(operator, (operand,), operand.at)

    def _comparison(self, node: cst.Comparison) -> s.Expr:
        left = self._expr(node.left)
        links: list[s.Expr] = []
        for target in node.comparisons:
            right = self._expr(target.comparator)
            links.append(
                s.Operation(_OPERATORS[type(target.operator)], (left, right), (left.at[0], right.at[1]))
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


def _literal(source: str) -> Any:
    """A number's or string's value; None for one that this Python does not accept."""
    if source.isdecimal() and source[0] != "0":
        return int(source)
    if source[0] in "\"'" and "\\" not in source and not source.startswith(('""', "''")):
        return source[1:-1]
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return None


_CONSTANTS = {"None": None, "True": True, "False": False}
_AUGMENTED = {
    "AddAssign": "+",
    "SubtractAssign": "-",
    "MultiplyAssign": "*",
    "DivideAssign": "/",
    "FloorDivideAssign": "//",
    "ModuloAssign": "%",
    "PowerAssign": "**",
    "MatrixMultiplyAssign": "@",
    "BitAndAssign": "&",
    "BitOrAssign": "|",
    "BitXorAssign": "^",
    "LeftShiftAssign": "<<",
    "RightShiftAssign": ">>",
}
_COMPREHENSIONS: dict[type, tuple[str, str]] = {
    cst.ListComp: ("list", "["),
    cst.SetComp: ("set", "{"),
    cst.DictComp: ("dict", "{"),
    cst.GeneratorExp: ("generator", ""),
}
_STATEMENTS: dict[type, Any] = {
    cst.Assign: _Reader._assign,
    cst.AnnAssign: _Reader._ann_assign,
    cst.AugAssign: _Reader._aug_assign,
    cst.Expr: _Reader._evaluate,
    cst.Return: _Reader._return,
    cst.Raise: _Reader._raise,
    cst.Break: _Reader._break,
    cst.Continue: _Reader._continue,
    cst.Del: _Reader._delete,
    cst.Assert: _Reader._assert,
    cst.If: _Reader._if,
    cst.For: _Reader._for,
    cst.While: _Reader._while,
    cst.With: _Reader._with,
    cst.Try: _Reader._try,
    cst.TryStar: _Reader._try,
    cst.Match: _Reader._match,
    cst.FunctionDef: _Reader._function,
    cst.ClassDef: _Reader._class,
    cst.Import: _Reader._import,
    cst.ImportFrom: _Reader._import_from,
    cst.Global: _Reader._global,
    cst.Nonlocal: _Reader._global,
}
_EXPRESSIONS: dict[type, Any] = {
    cst.Name: _Reader._name,
    cst.Attribute: _Reader._attribute,
    cst.Integer: _Reader._number,
    cst.Float: _Reader._number,
    cst.Imaginary: _Reader._number,
    cst.SimpleString: _Reader._string,
    cst.ConcatenatedString: _Reader._concatenated,
    cst.FormattedString: _Reader._formatted,
    cst.Ellipsis: _Reader._ellipsis,
    cst.Call: _Reader._call,
    cst.Subscript: _Reader._subscript,
    cst.Tuple: _Reader._tuple,
    cst.List: _Reader._list,
    cst.Set: _Reader._list,
    cst.Dict: _Reader._dict,
    cst.BinaryOperation: _Reader._binary,
    cst.BooleanOperation: _Reader._binary,
    cst.UnaryOperation: _Reader._unary,
    cst.Comparison: _Reader._comparison,
    cst.IfExp: _Reader._conditional,
    cst.Lambda: _Reader._lambda,
    cst.ListComp: _Reader._comprehension,
    cst.SetComp: _Reader._comprehension,
    cst.GeneratorExp: _Reader._comprehension,
    cst.DictComp: _Reader._comprehension,
    cst.NamedExpr: _Reader._walrus,
    cst.Await: _Reader._await,
    cst.Yield: _Reader._yield,
    cst.StarredElement: _Reader._starred,
}
if hasattr(cst, "TemplatedString"):
    _EXPRESSIONS[cst.TemplatedString] = _Reader._formatted
