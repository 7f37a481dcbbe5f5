"""Rewrites of a training program that change nothing of what it does."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence

import libcst as cst
import libcst.matchers as m

_STEPS = frozenset("step backward zero_grad train eval".split())
_PASS_THROUGH = """
import functools
def traced(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner
"""
_FACTORY = """
import functools
def traced(name):
    def decorate(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            print(name)
            result = function(*args, **kwargs)
            return result
        return inner
    return decorate
"""
_EACH = """
def each(items):
    for one in items:
        yield one
"""


class _Rewrite(cst.CSTTransformer):
    """Changes nodes, and puts statements behind the imports at the top where it has changed any."""

    above = ""

    def __init__(self) -> None:
        super().__init__()
        self.changed = False

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        if not self.changed or not self.above:
            return updated_node
        body = list(updated_node.body)
        put = next((i for i, one in enumerate(body) if not _is_head(one)), len(body))
        return updated_node.with_changes(body=[*body[:put], *cst.parse_module(self.above).body, *body[put:]])


class _Decorated(_Rewrite):
    above, decorator = _PASS_THROUGH, "traced"

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if updated_node.asynchronous is not None:
            return updated_node
        self.changed = True
        added = cst.Decorator(cst.parse_expression(self.decorator))
        return updated_node.with_changes(decorators=[*updated_node.decorators, added])


class _DecoratedByFactory(_Decorated):
    above, decorator = _FACTORY, "traced('a function')"


class _Chosen(_Rewrite):
    """`v = X` becomes `v = X if FLAG else X`."""

    above = "import os\nFLAG = bool(os.environ.get('FLAG'))\n"

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        if not m.matches(updated_node, m.Assign(targets=[m.AssignTarget(m.Name())], value=m.Call())):
            return updated_node
        self.changed = True
        value = _in_parentheses(updated_node.value)
        other = value.deep_clone()
        return updated_node.with_changes(value=cst.IfExp(test=cst.Name("FLAG"), body=value, orelse=other))


class _BranchedAssignment(_Rewrite):
    """`v = X` becomes `if FLAG: v = X` and `else: v = X`."""

    above = _Chosen.above

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        wanted = m.SimpleStatementLine([m.Assign([m.AssignTarget(m.Name())], m.Call())])
        if not m.matches(updated_node, wanted):
            return updated_node
        self.changed = True
        plain = updated_node.with_changes(leading_lines=())
        one, other = cst.IndentedBlock([plain]), cst.IndentedBlock([plain.deep_clone()])
        return cst.If(cst.Name("FLAG"), one, cst.Else(other), leading_lines=updated_node.leading_lines)


class _ByGetattr(_Rewrite):
    """`opt.step()` becomes `getattr(opt, "step")()`."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        func = updated_node.func
        if not isinstance(func, cst.Attribute) or func.attr.value not in _STEPS:
            return updated_node
        if not isinstance(func.value, cst.Name):
            return updated_node
        self.changed = True
        key = cst.SimpleString(f'"{func.attr.value}"')
        return updated_node.with_changes(
            func=cst.Call(cst.Name("getattr"), [cst.Arg(func.value), cst.Arg(key)])
        )


class _Walrus(_Rewrite):
    """`loss = f(x)` becomes `(loss := f(x))`."""

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.BaseSmallStatement:
        match updated_node.targets:
            case [cst.AssignTarget(target=cst.Name() as name)]:
                self.changed = True
                named = cst.NamedExpr(
                    name, updated_node.value, lpar=[cst.LeftParen()], rpar=[cst.RightParen()]
                )
                return cst.Expr(named)
        return updated_node

    def visit_ClassDef_body(self, node: cst.ClassDef) -> None:
        return None


class _Over(_Rewrite):
    """What a loop over data goes over is wrapped."""

    def wrapped(self, node: cst.For) -> cst.For:
        raise NotImplementedError

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.BaseStatement:
        if updated_node.asynchronous is not None or _is_range(updated_node.iter):
            return updated_node
        self.changed = True
        return self.wrapped(updated_node)


class _ListComprehension(_Over):
    def wrapped(self, node: cst.For) -> cst.For:
        made = cst.parse_expression("[one for one in X]")
        assert isinstance(made, cst.ListComp)
        return node.with_changes(
            iter=made.with_changes(for_in=made.for_in.with_changes(iter=_in_parentheses(node.iter)))
        )


class _Called(_Over):
    """`for x in data` becomes `for x in each(data)`."""

    function, before, after = "each", "", ""
    above = _EACH

    def wrapped(self, node: cst.For) -> cst.For:
        made = cst.parse_expression(f"{self.function}({self.before}X{self.after})")
        changed = made.visit(_Put(node.iter))
        return node.with_changes(iter=changed)


class _Tqdm(_Called):
    function, above = "tqdm", "from tqdm import tqdm\n"


class _Pairs(_Called):
    """`for x in data` becomes `for _, x in enumerate(data)`."""

    function, above = "enumerate", ""

    def wrapped(self, node: cst.For) -> cst.For:
        target = node.target
        if isinstance(target, cst.Tuple) and not target.lpar:
            target = target.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        pair = cst.Tuple([cst.Element(cst.Name("_number")), cst.Element(target)], lpar=(), rpar=())
        return super().wrapped(node).with_changes(target=pair)


class _Counted(_Pairs):
    function, before, above = "zip", "itertools.count(), ", "import itertools\n"


class _CountedRange(_Pairs):
    """`for epoch in range(n)` becomes `for _, epoch in enumerate(range(n))`."""

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.BaseStatement:
        if updated_node.asynchronous is not None or not _is_range(updated_node.iter):
            return updated_node
        self.changed = True
        return self.wrapped(updated_node)


class _Next(_Rewrite):
    """A loop becomes `while True`, with `next` until there is no more."""

    def leave_For(
        self, original_node: cst.For, updated_node: cst.For
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        plain = isinstance(updated_node.body, cst.IndentedBlock) and updated_node.orelse is None
        if updated_node.asynchronous is not None or not plain or _is_range(updated_node.iter):
            return updated_node
        self.changed = True
        text = "it = iter(X)\nwhile True:\n    try:\n        Y = next(it)\n    except StopIteration:\n        break\n"
        begin, loop = cst.parse_module(text).visit(_Put(updated_node.iter, updated_node.target)).body
        assert isinstance(loop, cst.While)
        body = [*loop.body.body, *updated_node.body.body]
        loop = loop.with_changes(body=updated_node.body.with_changes(body=body))
        return cst.FlattenSentinel([begin, loop])


class _Logged(_Rewrite):
    """`print("here")` in front of each simple statement of a function's body and of a loop's."""

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self.changed = True
        first, *rest = updated_node.body
        is_text = m.matches(first, m.SimpleStatementLine([m.Expr(m.SimpleString())]))
        said = cst.parse_statement('print("here")')
        return updated_node.with_changes(body=[first, said, *rest] if is_text else [said, first, *rest])


class _UnusedBranch(_Logged):
    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self.changed = True
        added = cst.parse_statement("if len(__name__) > 1000:\n    print('never')\n")
        return updated_node.with_changes(body=[*updated_node.body[:-1], added, updated_node.body[-1]])


class _Split(_Rewrite):
    """`f(g(x))` in an assignment becomes `inner = g(x)`, `f(inner)`."""

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        match updated_node.body:
            case [
                cst.Assign(
                    value=cst.Call(args=[cst.Arg(value=cst.Call() as inner, star=""), *_]) as outer
                ) as node
            ]:
                self.changed = True
                first = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name("inner"))], inner)])
                args = [outer.args[0].with_changes(value=cst.Name("inner")), *outer.args[1:]]
                changed = node.with_changes(value=outer.with_changes(args=args))
                return cst.FlattenSentinel([first, updated_node.with_changes(body=[changed])])
        return updated_node


class _Put(cst.CSTTransformer):
    """Puts expressions in the places of `X` and `Y`."""

    def __init__(self, x: cst.BaseExpression, y: cst.BaseExpression | None = None) -> None:
        super().__init__()
        self._by_name = {"X": _in_parentheses(x), "Y": y}

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._by_name.get(updated_node.value) or updated_node


def _in_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    if node.lpar or isinstance(node, (cst.Name, cst.Attribute, cst.Call)):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _is_range(node: cst.BaseExpression) -> bool:
    return m.matches(node, m.Call(m.Name("range")))


def _is_head(node: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
    imports = m.Import() | m.ImportFrom() | m.Expr(m.SimpleString() | m.ConcatenatedString())
    return m.matches(node, m.SimpleStatementLine([imports]))


def _wrapped(module: cst.Module, head: str, call: str, indents: int) -> cst.Module | None:
    """What the body of a module does, in a function of its own; None if functions use names that it binds, or have the
    name of that function."""
    kept: list[cst.BaseStatement] = []
    moved: list[cst.BaseStatement] = []
    for one in module.body:
        assert isinstance(one, cst.BaseStatement)
        is_kept = (
            _is_head(one)
            or isinstance(one, (cst.FunctionDef, cst.ClassDef))
            or _is_main(one)
            or m.matches(one, m.If(m.Name("TYPE_CHECKING")))
        )
        (kept if is_kept else moved).append(one)
    if not moved or _names(moved, stored=True) & _names(kept, stored=False):
        return None
    if any(
        isinstance(one, (cst.FunctionDef, cst.ClassDef)) and f" {one.name.value}(" in head for one in kept
    ):
        return None
    inner: Sequence[cst.BaseStatement] = moved
    for line in reversed(head.splitlines()):
        made = cst.parse_statement(f"{line.strip()}\n    pass\n")
        assert isinstance(made, (cst.FunctionDef, cst.ClassDef))
        inner = [made.with_changes(body=cst.IndentedBlock(inner))]
    return module.with_changes(body=[*kept, *inner, cst.parse_statement(call)])


def _is_main(node: cst.BaseStatement) -> bool:
    return m.matches(node, m.If(m.Comparison(m.Name("__name__"))))


def _names(nodes: Sequence[cst.CSTNode], *, stored: bool) -> set[str]:
    found = {name.value for node in nodes for name in m.findall(node, m.Name()) if isinstance(name, cst.Name)}
    targets = {
        name.value
        for node in nodes
        for target in m.findall(node, m.AssignTarget() | m.For() | m.NamedExpr() | m.AsName())
        for name in m.findall(getattr(target, "target", getattr(target, "name", target)), m.Name())
        if isinstance(name, cst.Name)
    }
    return targets if stored else found - set(dir(builtins))


def _main(module: cst.Module) -> cst.Module | None:
    return _wrapped(module, "def main():", 'if __name__ == "__main__":\n    main()\n', 1)


def _method(module: cst.Module) -> cst.Module | None:
    return _wrapped(module, "class Runner:\ndef run(self):", "Runner().run()\n", 2)


def _by(rewrite: type[_Rewrite]) -> Callable[[cst.Module], cst.Module | None]:
    def apply(module: cst.Module) -> cst.Module | None:
        at_work = rewrite()
        changed = module.visit(at_work)
        return changed if at_work.changed else None

    return apply


REWRITES: Mapping[str, Callable[[cst.Module], cst.Module | None]] = {
    "a pass-through decorator on every function": _by(_Decorated),
    "a decorator with an argument on every function": _by(_DecoratedByFactory),
    "`v = X if FLAG else X`": _by(_Chosen),
    "`if FLAG: v = X`, `else: v = X`": _by(_BranchedAssignment),
    '`getattr(optimizer, "step")()`': _by(_ByGetattr),
    "in `main()`": _main,
    "in a method": _method,
    "`(loss := f(x))`": _by(_Walrus),
    "loops over `[one for one in data]`": _by(_ListComprehension),
    "loops over a generator of its own": _by(_Called),
    "loops over `tqdm(data)`": _by(_Tqdm),
    "loops over `enumerate(data)`": _by(_Pairs),
    "loops over `zip(itertools.count(), data)`": _by(_Counted),
    "`while True: x = next(it)`": _by(_Next),
    "`for _, epoch in enumerate(range(n))`": _by(_CountedRange),
    "an inner call first": _by(_Split),
    "a `print` in every block": _by(_Logged),
    "a branch that is never taken": _by(_UnusedBranch),
}
