"""Statements: both ways of a branch, a loop as one round of many, and what each leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from trainlint import limits
from trainlint.facts.api.classes import AUTOCAST
from trainlint.facts.api.layers import EMBEDDING, MAKES_ANOTHER
from trainlint.facts.api.operations import OUT_OF_PLACE
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.operations import Discarded
from trainlint.facts.model.nodes import Branch, Exit, Loop, Node
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Table,
    Unknown,
    Value,
    alternatives,
    one_of,
)
from trainlint.program.api import builtin, frameworks, library, noting
from trainlint.program.api.lists import numbered
from trainlint.program.evaluate import (
    attributes,
    classes,
    conditions,
    declared,
    decorating,
    expressions,
    narrowing,
    running_sums,
    standing_in,
)
from trainlint.program.evaluate.store import Layer
from trainlint.program.evaluate.values import Arguments, Env, FileModule, FunctionValue, Imported, Library
from trainlint.program.source import shape
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

Signal = str | None
"""How a block ends: None falls through; "return", "break", "continue" and "raise" do not."""

_NEAREST = ("continue", "break", "return", "raise")
"""Where two branches end in different ways, the program may go on where the first of these leads."""


def block(ev: Evaluator, statements: s.Block) -> Signal:
    here = ev.here
    try:
        return _decided(ev, statements)
    finally:
        ev.forget(here)


def _statement(ev: Evaluator, node: s.Statement) -> Signal:
    ev.spend()
    do = _DO.get(type(node))
    return do(ev, node) if do is not None else None


def _evaluate(ev: Evaluator, node: s.Evaluate) -> None:
    value = ev.expr(node.value)
    if isinstance(node.value, s.Call) and isinstance(value, Op):
        # what a function has bound and returns, it may have looked at
        value.is_ignored = value.at is None or value.at == ev.place(node.value.at)
        _note_discarded(ev, node.value, value)


def _assert(ev: Evaluator, node: s.Assert) -> None:
    """From here on the test is true."""
    ev.learn(conditions.implied(ev.expr(node.test), True))
    narrowing.narrow(ev, node.test, True)


def _return(ev: Evaluator, node: s.Return) -> Signal:
    value = ev.expr(node.value) if node.value is not None else Constant(value=None, at=ev.place(node.at))
    frame = ev.frames[-1]
    frame.returns.append((ev.guards[frame.guards :], value))
    ev.nodes.append(Exit("return"))
    return "return"


def _raise(ev: Evaluator, node: s.Raise) -> Signal:
    if node.value is not None:
        ev.expr(node.value)
    ev.nodes.append(Exit("raise"))
    return "raise"


def _jump(ev: Evaluator, node: s.Jump) -> Signal:
    ev.nodes.append(Exit(node.kind))
    return node.kind


def _function(ev: Evaluator, node: s.Function) -> None:
    ev.bind(node.name, decorating.define_function(ev, node))


def _class(ev: Evaluator, node: s.Class) -> None:
    ev.bind(node.name, classes.define_class(ev, node))


def _deleted(ev: Evaluator, node: s.Delete) -> None:
    for target in node.targets:
        _delete(ev, target)


def _delete(ev: Evaluator, target: s.Expr) -> None:
    """`del table[key]`."""
    if not isinstance(target, s.Subscript):
        return
    table, key = ev.unseen(target.value), ev.expr(target.index)
    if isinstance(table, Table) and isinstance(key, Constant) and key.value in table.entries:
        builtin.without_entry(ev, table, key.value)


def _note_discarded(ev: Evaluator, node: s.Call, value: Op) -> None:
    """`x.clamp(0)` as a statement."""
    name = node.func.name if isinstance(node.func, s.Attribute) else ""
    is_trial = ev.frames[-1].trying > 0
    if name == MAKES_ANOTHER and value.owner is not None and value.owner.type == EMBEDDING and not is_trial:
        ev.emit(Discarded, node.at, name=name, tensor=value.owner, text=value.text)
    if (
        name in OUT_OF_PLACE
        and value.inputs
        and not is_trial
        and not {"out", "inplace"} & value.options.keys()
    ):
        root: s.Expr = node.func
        while isinstance(root, s.Attribute):
            root = root.value
        is_function = isinstance(root, s.Name) and isinstance(ev.lookup(root.name), Library)
        ev.emit(
            Discarded, node.at, name=name, tensor=value.inputs[0], is_method=not is_function, text=value.text
        )


def _assign(ev: Evaluator, node: s.Assign) -> None:
    if node.value is None:
        return
    value = declared.instead(ev, node.annotation, ev.env, ev.expr(node.value))
    for target in node.targets:
        running_sums.note_assigned(ev, target, node.value, value)
        assign(ev, target, standing_in.known(ev, target, value) if isinstance(target, s.Name) else value)


def assign(ev: Evaluator, target: s.Expr, value: Value) -> None:
    match target:
        case s.Name():
            ev.bind(target.name, value)
        case s.Attribute():
            ev.set_attribute(ev.expr(target.value), target.name, value, target.at)
        case s.Subscript():
            container = ev.unseen(target.value)
            builtin.store_item(ev, container, ev.expr(target.index), value, target.at)
        case s.Collection():
            for item, part in zip(target.items, _unpacked(ev, target, value), strict=False):
                if isinstance(item, s.Starred):
                    item = item.value
                assign(ev, item, part)
        case s.Starred():
            assign(ev, target.value, value)


def _unpacked(ev: Evaluator, target: s.Collection, value: Value) -> list[Value]:
    """As many values as a tuple of targets needs."""
    count = len(target.items)
    if isinstance(value, Choice):
        fitting = [one for one in value.options if isinstance(one[1], Items) and len(one[1].items) == count]
        value = one_of(fitting) if fitting else value
    starred = next((i for i, item in enumerate(target.items) if isinstance(item, s.Starred)), None)
    if isinstance(value, Items) and value.exact and starred is not None and len(value.items) >= count - 1:
        after = count - starred - 1
        middle = value.items[starred : len(value.items) - after]
        return [
            *value.items[:starred],
            Items(items=list(middle)),
            *value.items[len(value.items) - after :],
        ]
    return [ev.settle(builtin.item(ev, value, Constant(value=number), target.at)) for number in range(count)]


def _augmented(ev: Evaluator, node: s.AugmentedAssign) -> None:
    before = ev.expr(node.target)
    value = ev.expr(node.value)
    if isinstance(before, Items) and node.operator == "+":
        builtin.extend(ev, before, value)
        return
    result = expressions.arithmetic(ev, node.operator, (before, value), node.at)
    running_sums.note_augmented(ev, node, before, value, result)
    if isinstance(node.target, s.Attribute):
        attributes.written_by_hand(ev, ev.expr(node.target.value), node.target.name, node.at)
    elif isinstance(before, Op):
        attributes.written_by_hand(ev, before, "", node.at)
    noting.note_overwritten(ev, before, node.at)
    assign(ev, node.target, result)


def _if(ev: Evaluator, node: s.If) -> Signal:
    test = ev.expr(node.test)
    outcome = conditions.truth(test, ev.known)
    if outcome is None and shape.is_main_guard(node.test):
        outcome = True
    if ev.loops and shape.is_lazy(node):
        with ev.inside(loops=()):  # what it makes is made once, on the first round
            return _decide(ev, node, test, None)
    return _decide(ev, node, test, outcome)


def _decide(ev: Evaluator, node: s.If, test: Value, outcome: bool | None) -> Signal:
    if outcome is not None:
        return _decided(ev, node.body if outcome else node.orelse)
    if not shape.names_version(node.test):
        return _fork(ev, node, test)
    with ev.inside(asking=ev.here.asking + 1):
        return _fork(ev, node, test)


def _fork(ev: Evaluator, node: s.If, test: Value) -> Signal:
    guard = conditions.guard(test)
    varies = ev.varying.setdefault(guard[0], conditions.varies(test))
    branch = Branch(guard[0], tuple(sorted(varies)))
    yes, no = (_branch(ev, node, test, guard, outcome) for outcome in (True, False))
    branch.then, branch.otherwise = (yes[0], no[0]) if guard[1] else (no[0], yes[0])
    ev.nodes.append(branch)
    if yes[1] is not None and no[1] is not None:
        ev.merge(guard, yes[2], no[2])
        return min(yes[1], no[1], key=_NEAREST.index)
    if yes[1] is not None or no[1] is not None:
        gone = yes[1] is not None
        ev.store.write(no[2] if gone else yes[2])
        ev.assume(conditions.implied(test, not gone, guard))
    else:
        ev.merge(guard, yes[2], no[2])
    return None


def _decided(ev: Evaluator, statements: s.Block) -> Signal:
    """A block whose assumptions live on after it, as if it stood in the surrounding one."""
    for statement in statements:
        signal = _statement(ev, statement)
        if signal is not None:
            return signal
    return None


def _branch(
    ev: Evaluator, node: s.If, test: Value, guard: conditions.Guard, outcome: bool
) -> tuple[list[Node], Signal, Layer]:
    ev.store.push()
    with ev.inside("known", "guards", "records", nodes=[]):
        ev.assume(conditions.implied(test, outcome, guard))
        narrowing.narrow(ev, node.test, outcome)
        signal = _decided(ev, node.body if outcome else node.orelse)
        return ev.nodes, signal, ev.store.pop()


def _for(ev: Evaluator, node: s.For) -> Signal:
    iterable = builtin.listed(ev.expr(node.iterable))
    if isinstance(iterable, Items) and is_unrolled(ev, iterable):
        with unrolled(ev, iterable):
            signal = _item_by_item(ev, node, iterable)
        if signal is None:
            return _decided(ev, node.orelse)
        return None if signal == "break" else signal

    def bind() -> None:
        assign(ev, node.target, builtin.element(ev, iterable, node.iterable.at))

    signal = _loop(ev, node, node.body, bind, iterable)
    _decided(ev, node.orelse)
    return signal


def _item_by_item(ev: Evaluator, node: s.For, iterable: Items) -> Signal:
    """How the loop was left before its end, if it was."""
    for one in tuple(iterable.items):  # the body may append to it
        assign(ev, node.target, one)
        signal = block(ev, node.body)
        if signal in ("return", "raise", "break"):
            return signal
    return None


def is_unrolled(ev: Evaluator, iterable: Items) -> bool:
    """Whether a loop over this is followed item by item."""
    count = len(iterable.items)
    is_short = iterable.exact and count <= limits.MAX_UNROLLED
    return is_short and ev.here.unrolled * count <= limits.MAX_UNROLLED_TOGETHER


@contextmanager
def unrolled(ev: Evaluator, iterable: Items) -> Iterator[None]:
    """What happens inside is gone through for each item."""
    with ev.inside(unrolled=ev.here.unrolled * max(1, len(iterable.items))):
        yield


def _while(ev: Evaluator, node: s.While) -> Signal:
    _loop(ev, node, node.body, lambda: ev.expr(node.test))
    endless = isinstance(node.test, s.Constant) and bool(node.test.value)
    if not endless:
        _decided(ev, node.orelse)
    return None


def _loop(
    ev: Evaluator, node: s.For | s.While, body: s.Block, start: Callable[[], Any], over: Value | None = None
) -> Signal:
    """One round that stands for many: names that the body assigns are carried into it."""
    carried: dict[str, Carried] = {}
    with loop(ev, node.at, over, body) as number:
        for name in _names_assigned(ev, node, body):
            before = ev.store.get((ev.env.declared.get(name, ev.env).uid, name))
            if before is not None:
                carried[name] = Carried(start=before, loop=number)
                ev.bind(name, carried[name])
        start()
        signal = block(ev, body)
    for name, value in carried.items():
        after = ev.store.get((ev.env.declared.get(name, ev.env).uid, name))
        if after is value:
            ev.bind(name, value.start)
        else:
            value.back = after
    return signal if signal in ("return", "raise") and isinstance(node, s.While) else None


@contextmanager
def loop(ev: Evaluator, at: s.Span, over: Value | None = None, body: s.Block = ()) -> Iterator[int]:
    """What happens inside happens in every round of a loop, which has this number."""
    number = next(ev.loop_numbers)
    ev.uses.begin(number, body, len(ev.frames))
    loop = Loop(number, ev.place(at), over=numbered(over))
    with ev.inside("known", "guards", nodes=loop.body, loops=(*ev.loops, number)):
        yield number
    ev.nodes.append(loop)


def _names_assigned(ev: Evaluator, node: s.For | s.While, body: s.Block) -> frozenset[str]:
    found = ev.assigned_names.get(id(node))
    if found is None:
        found = ev.assigned_names[id(node)] = frozenset(shape.assigned(body))
    return found


def _with(ev: Evaluator, node: s.With) -> Signal:
    with ExitStack() as contexts:
        for context, target in node.items:
            contexts.enter_context(_with_one(ev, context, target))
        awaits = sum("raises" in ev.label(context).lower() for context, _ in node.items)
        if not awaits:
            return block(ev, node.body)
        with ev.inside(nodes=[]), trying(ev, awaits):  # what is meant to fail is no training
            return block(ev, node.body)


@contextmanager
def _with_one(ev: Evaluator, context: s.Expr, target: s.Expr | None) -> Iterator[None]:
    """What is done inside is done under `with context as target`."""
    value = ev.expr(context)
    records, regions = _records_in(ev, value, ev.records), _autocast_in(ev, value)
    entered = ev.here.regions + frameworks.regions_in(value)
    with ev.inside(records=records, autocast=ev.here.autocast + regions, regions=entered):
        if isinstance(value, Op) and value.name == "device":
            ev.emit(Called, context.at, name="torch.set_default_device", args=(value,))
        if target is not None:
            assign(ev, target, _entered(ev, value, context))
        yield


@contextmanager
def trying(ev: Evaluator, blocks: int) -> Iterator[None]:
    """So many blocks that wait for an exception stand around what is done inside."""
    frame = ev.frames[-1]
    frame.trying += blocks
    try:
        yield
    finally:
        frame.trying -= blocks


def _autocast_in(ev: Evaluator, context: Value) -> tuple[Value, ...]:
    """The regions of autocast that `with context` begins, or may begin."""
    if context.uid in ev.contexts:
        return ev.contexts[context.uid][1]
    is_region = any(isinstance(one, Object) and one.is_a(AUTOCAST) for one in alternatives(context))
    return (context,) if is_region else ()


def _entered(ev: Evaluator, value: Value, context: s.Expr) -> Value:
    """What `with value as name` binds."""
    if isinstance(value, Items):
        return builtin.element(ev, value, context.at)
    if isinstance(value, Object) and value.definition is not None:
        method = classes.class_attribute(ev, value.definition, "__enter__")
        if isinstance(method, FunctionValue):
            return ev.call_function(method, Arguments((value,)), context.at, value)
    return value


def _records_in(ev: Evaluator, context: Value, outer: bool | None) -> bool | None:
    """Whether autograd records inside `with context`."""
    found: set[bool | None] = set()
    for one in alternatives(context):
        if one.uid in ev.contexts:
            found.add(ev.contexts[one.uid][0])
        else:
            change = library.records_inside(one)
            found.add(outer if change == "same" else change)  # type: ignore[arg-type]
    return found.pop() if len(found) == 1 else None


def _try(ev: Evaluator, node: s.Try) -> Signal:
    ev.store.push()
    with trying(ev, 1):
        signal = block(ev, node.body)
    if signal is None:
        signal = block(ev, node.orelse)
    done = ev.store.pop()
    ended: list[Signal] = [signal]
    outcome = done
    for handler in node.handlers:
        if handler.catches is not None:
            ev.expr(handler.catches)
        caught = Unknown(text="exception", loops=ev.loops)
        branch = Branch(None, ())
        condition = ("import fails" if shape.is_import_error(handler.catches) else "handler", caught.uid)
        ev.store.push()
        with ev.inside(nodes=branch.then, guards=(*ev.guards, (condition, True))):
            if handler.name is not None:
                ev.bind(handler.name, caught)
            left = block(ev, handler.body)
        layer = ev.store.pop()
        ev.nodes.append(branch)
        ended.append(left)
        if left is None:
            ev.store.push()
            ev.merge((condition, True), layer, outcome)
            outcome = ev.store.pop()
    if signal is None or any(left is None for left in ended):
        ev.store.write(outcome)
    left_by = ev.nodes.pop() if ev.nodes and isinstance(ev.nodes[-1], Exit) else None
    last = _decided(ev, node.final)
    if left_by is not None:
        ev.nodes.append(left_by)
    if last is not None:
        return last
    return None if any(left is None for left in ended) else signal


def _match(ev: Evaluator, node: s.Match) -> Signal:
    ev.expr(node.subject)
    for names, body in node.cases:
        branch = Branch(None, ())
        ev.store.push()
        with ev.inside(nodes=branch.then):
            for name in names:
                ev.bind(name, ev.unknown(name))
            left = block(ev, body)
        layer = ev.store.pop()
        ev.nodes.append(branch)
        if left is None:
            ev.merge(None, layer, {})
    return None


def _scope(ev: Evaluator, node: s.Scope) -> None:
    env = ev.env
    target: Env | None = env.parent
    if node.kind == "global":
        while target is not None and target.parent is not None:
            target = target.parent
    if target is not None:
        for name in node.names:
            env.declared[name] = target


def _import(ev: Evaluator, node: s.Import) -> None:
    path = ev.env.path
    for name, alias in node.names:
        first = name.partition(".")[0]
        whole, package = ev.project.module(path, 0, name), ev.project.module(path, 0, first)
        if alias is not None:
            ev.bind(alias, FileModule(path=whole) if whole is not None else Library(name=name))
        elif package is not None:
            ev.bind(first, FileModule(path=package))
        elif whole is not None:
            ev.bind(first, _package(ev, name, whole))
        else:
            ev.bind(first, Library(name=first))


def _package(ev: Evaluator, name: str, file: str) -> Value:
    """`import a.b.c` where `a` has no `__init__`: a namespace that holds `b`, that holds `c`."""
    value: Value = FileModule(path=file)
    for part in reversed(name.split(".")[1:]):
        holder = Object(type="module")
        ev.store.set((holder.uid, part), value)
        value = holder
    return value


def _import_from(ev: Evaluator, node: s.ImportFrom) -> None:
    path = ev.env.path
    file = ev.project.module(path, node.level, node.module)
    for name, alias in node.names:
        if name == "*":
            if file is not None:
                _import_all(ev, file)
        elif file is not None:
            ev.bind(alias or name, Imported(path=file, name=name))
        else:
            inner = ev.project.module(path, node.level, f"{node.module}.{name}".strip("."))
            dotted = f"{node.module or '.'}.{name}"
            library = Library(name="torch" if dotted == "torch.torch" else dotted)
            ev.bind(alias or name, FileModule(path=inner) if inner is not None else library)


def _import_all(ev: Evaluator, file: str) -> None:
    ev.trace.lists.add(file)
    for name in sorted(ev.project.names(file)):
        if not name.startswith("_"):
            ev.bind(name, Imported(path=file, name=name))


_DO: dict[type, Callable[[Evaluator, Any], Signal]] = {
    s.Evaluate: _evaluate,
    s.Assert: _assert,
    s.Assign: _assign,
    s.AugmentedAssign: _augmented,
    s.Return: _return,
    s.If: _if,
    s.For: _for,
    s.While: _while,
    s.With: _with,
    s.Function: _function,
    s.Class: _class,
    s.Import: _import,
    s.ImportFrom: _import_from,
    s.Try: _try,
    s.Raise: _raise,
    s.Jump: _jump,
    s.Match: _match,
    s.Scope: _scope,
    s.Delete: _deleted,
}
"""What each kind of statement does."""
