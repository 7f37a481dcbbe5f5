"""libcst's statements to those of `syntax`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trainlint import limits
from trainlint.facts.api.operations import OUT_OF_PLACE
from trainlint.program.source import captured, matching, rebinding, shape
from trainlint.program.source import syntax as s
from trainlint.program.source.displayed import displayed
from trainlint.program.source.handing_out import hands_out
from trainlint.program.source.literals import AUGMENTED
from trainlint.program.source.parser import nodes as cst
from trainlint.program.source.read_expressions import ExpressionReader

if TYPE_CHECKING:
    import libcst as cst

_LINE = re.compile(r"\r\n|\r|\n")


class Reader(ExpressionReader):
    """Reads a whole file."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._text = text
        self._lines = (0, *(match.end() for match in _LINE.finditer(text)))
        self._imports: list[tuple[int, str, tuple[str, ...]]] = []
        self._declared: set[str] = set()

    def module(self, tree: cst.Module) -> s.Module:
        body = displayed(self._block(tree.body), self._text)
        return s.Module(
            body,
            self._lines,
            tuple(self._imports),
            frozenset(self._called),
            frozenset(self._reads),
            frozenset(self._declared),
        )

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
        at = (targets[0].at[0], value.at[1])
        match targets, value:
            case (
                (s.Name(name=name),),
                s.Call(func=function, args=(s.Argument(value=s.Constant(value=str(module))),)),
            ) if _imports(function, module):
                self._imports.append((0, module, ()))
                return s.Import(((module, name),), at)
        return s.Assign(targets, value, None, at)

    def _ann_assign(self, node: cst.AnnAssign) -> s.Statement:
        target = self._target(node.target)
        annotation = self._expr(node.annotation.annotation)
        value = self._expr(node.value) if node.value is not None else None
        return s.Assign((target,), value, annotation, (target.at[0], (value or annotation).at[1]))

    def _target(self, node: Any) -> s.Expr:
        """What is assigned: an attribute that is set, alone or as one of several, is not read."""
        several = [one.value for one in node.elements] if isinstance(node, (cst.Tuple, cst.List)) else [node]
        names = {one.attr.value for one in several if isinstance(one, cst.Attribute)}
        new = names - self._reads
        target = self._expr(node)
        self._reads -= new
        return target

    def _aug_assign(self, node: cst.AugAssign) -> s.Statement:
        target = self._expr(node.target)
        value = self._expr(node.value)
        operator = type(node.operator).__name__
        return s.AugmentedAssign(
            target, AUGMENTED.get(operator, operator), value, (target.at[0], value.at[1])
        )

    def _evaluate(self, node: cst.Expr) -> s.Statement:
        value = self._expr(node.value)
        if isinstance(value, s.Constant) and isinstance(value.value, str):
            value.value = ""  # a docstring: a third of some packages
        if (
            isinstance(value, s.Call)
            and isinstance(value.func, s.Attribute)
            and value.func.name in OUT_OF_PLACE
        ):
            self._names.add(s.DISCARDS)
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

    def _if(self, node: cst.If) -> s.Statement:
        branches = []
        while True:
            test = self._expr(node.test)
            branches.append((test, self._suite(node.body)))
            if not isinstance(node.orelse, cst.If):
                break
            node = node.orelse
        orelse: s.Block = () if node.orelse is None else self._suite(node.orelse.body)
        (test, body), *others = branches[: limits.BRANCHES]
        for other, its_body in reversed(others):
            orelse = (s.If(other, its_body, orelse, other.at),)
        return s.If(test, body, orelse, test.at)

    def _for(self, node: cst.For) -> s.Statement:
        at = self._tokens.take("for")
        target = self._expr(node.target)
        iterable = self._expr(node.iter)
        body = self._suite(node.body)
        read = s.For(target, iterable, body, self._else(node.orelse), (at[0], iterable.at[1]))
        if any(rebinding.lost(read, (read,))):
            self._names.add(s.DISCARDS)
        return read

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
        cases: list[tuple[s.Expr | None, s.Block]] = []
        read: list[s.Case] = []
        is_plain = _is_plain(subject) and len(node.cases) <= limits.BRANCHES
        for case in node.cases:
            is_plain = is_plain and case.guard is None and matching.asks_for_values(case.pattern)
            test = matching.asked(case.pattern, subject, self._expr) if is_plain else None
            if test is None:
                self._pass(case.pattern)
            names = tuple(self._bound_names(case.pattern))
            self._tokens.close()
            guard = self._expr(case.guard) if case.guard is not None else None
            is_any = case.guard is None and matching.fits_anything(case.pattern)
            found = captured.read(case.pattern, subject.at)
            body, binds, asks = self._suite(case.body), tuple(found.binds), tuple(found.asks)
            names = tuple(dict.fromkeys((*names, *(one.name for one in binds))))
            read.append(s.Case(names, body, is_any, binds, asks, found.told, guard))
            cases.append((test, read[-1].body))
        chain = matching.chain(cases) if is_plain else None
        if chain is not None:
            return chain
        return s.Match(subject, tuple(read), subject.at)

    def _pass(self, pattern: cst.CSTNode) -> None:
        """Move behind the names and literals of a pattern, of which nothing is read."""
        if isinstance(pattern, (cst.Name, cst.SimpleString, cst.Integer, cst.Float, cst.Imaginary)):
            self._tokens.take(pattern.value)
            return
        children = list(pattern.children)
        opened = None
        if isinstance(pattern, cst.MatchClass):
            self._pass(pattern.cls)
            opened = self._tokens.enter("(")
            children = [one for one in children if one is not pattern.cls]
        for child in children:
            self._pass(child)
        if opened is not None:
            self._tokens.leave(opened)

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
        outer = self._yields, self._names, self._free, self._attributes
        self._yields, self._names, self._free, self._attributes = False, set(), set(), set()
        body = self._suite(node.body)
        of_decorators = frozenset(shape.names(decorators))
        is_generator, names = self._yields, frozenset(self._names) | of_decorators
        bound = {one.name for one in parameters}.union(shape.assigned(body)) - self._declared
        free = self._free - bound
        own = names - free - self._attributes - of_decorators
        self._yields, *outside = outer
        for known, new in zip(outside, (names, free, self._attributes), strict=True):
            known |= new
        self._names, self._free, self._attributes = outside
        if hands_out(body, parameters):
            names |= {s.HANDS_OUT}
        return s.Function(
            node.name.value, parameters, body, decorators, is_generator, names, at, returns, own
        )

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
        names = tuple(item.name.value for item in node.names)
        if kind == "global":
            self._declared.update(names)
        return s.Scope(kind, names, at)


_STATEMENTS: dict[type, Any] = {
    cst.Assign: Reader._assign,
    cst.AnnAssign: Reader._ann_assign,
    cst.AugAssign: Reader._aug_assign,
    cst.Expr: Reader._evaluate,
    cst.Return: Reader._return,
    cst.Raise: Reader._raise,
    cst.Break: Reader._break,
    cst.Continue: Reader._continue,
    cst.Del: Reader._delete,
    cst.Assert: Reader._assert,
    cst.If: Reader._if,
    cst.For: Reader._for,
    cst.While: Reader._while,
    cst.With: Reader._with,
    cst.Try: Reader._try,
    cst.TryStar: Reader._try,
    cst.Match: Reader._match,
    cst.FunctionDef: Reader._function,
    cst.ClassDef: Reader._class,
    cst.Import: Reader._import,
    cst.ImportFrom: Reader._import_from,
    cst.Global: Reader._global,
    cst.Nonlocal: Reader._global,
}


def _imports(function: s.Expr, module: str) -> bool:
    """Whether a call imports a module by its name: `importlib.import_module("models.nets")`."""
    match function:
        case s.Name(name="import_module") | s.Attribute(value=s.Name(name="importlib"), name="import_module"):
            return all(map(str.isidentifier, module.split(".")))
    return False


def _is_plain(subject: s.Expr) -> bool:
    """Whether something may be read again and again: a name, or an attribute of one."""
    while isinstance(subject, s.Attribute):
        subject = subject.value
    return isinstance(subject, s.Name)
