"""Expressions: what value each one has, as far as that can be said."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trainlint import limits
from trainlint.facts.model.values import (
    Choice,
    Constant,
    Guards,
    Items,
    Missing,
    Object,
    Op,
    Table,
    Value,
    Written,
    one_of,
    ways,
)
from trainlint.finding import Place
from trainlint.program.api import elements, folding, host, subscripts
from trainlint.program.api.lists import bounded, joined, once
from trainlint.program.evaluate import (
    assigning,
    called,
    conditions,
    declared,
    decorating,
    loops,
    names,
    namespaces,
    narrowing,
    overloads,
    restoring,
    standing_in,
    wrapped_names,
)
from trainlint.program.evaluate.comprehensions import comprehension
from trainlint.program.evaluate.spreading import as_one_list, spread
from trainlint.program.evaluate.values import Arguments, Super
from trainlint.program.source import shape
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def _name(ev: Evaluator, node: s.Name) -> Value:
    return names.seen(ev, names.lookup(ev, node.name))


def _constant(ev: Evaluator, node: s.Constant) -> Value:
    return Constant(value=node.value, at=ev.place(node.at))


def _attribute(ev: Evaluator, node: s.Attribute) -> Value:
    return names.seen(ev, attribute(ev, node))


def attribute(ev: Evaluator, node: s.Attribute) -> Value:
    holder = ev.expr(node.value)
    found = names.settle(ev, ev.attribute(holder, node.name, node.at, ev.label(node)))
    return standing_in.known(ev, node, declared.attribute(ev, holder, node.name, found))


def unseen(ev: Evaluator, node: s.Expr) -> Value:
    """The value of an expression, where it does not matter what it holds."""
    match node:
        case s.Name():
            ev.spend()
            return names.lookup(ev, node.name)
        case s.Attribute():
            ev.spend()
            return attribute(ev, node)
    return ev.expr(node)


def _call(ev: Evaluator, node: s.Call) -> Value:
    if isinstance(node.func, s.Name) and node.func.name == "super":
        frame = ev.frames[-1]
        if frame.owner is not None and frame.receiver is not None:
            return Super(owner=frame.owner, receiver=frame.receiver)
    called_as = node.func
    restores = None
    match called_as:
        case s.Attribute(name="__call__", value=value) if not isinstance(value, s.Call):
            called_as = value  # of a call it may be `super()`, which is asked for how its class is called
        case s.Attribute(name="load_from_checkpoint"):
            restores = restoring.restored
        case s.Attribute(name="from_pretrained"):
            restores = restoring.pretrained
    func = ev.expr(called_as)
    given = _arguments(ev, node.args)
    if restores is not None and (restored := restores(ev, node, given)) is not None:
        return restored
    wrapped_names.note_handed(ev, node, given)
    result = ev.call(func, given, node.at, shape.compared(node) or f"{ev.label(node.func)}(…)")
    wrapped_names.note_state(ev, node)
    if isinstance(result, Object):
        called.note_dataset(result, node)
    return result


def _arguments(ev: Evaluator, nodes: tuple[s.Argument, ...]) -> Arguments:
    args: list[Value] = []
    options: dict[str, Value] = {}
    mappings: list[Value] = []
    is_open = False
    for node in nodes:
        value = ev.expr(node.value)
        if node.star == "*":
            more, is_more = spread(ev, value, node.value.at, len(args))
            args += more
            is_open = is_open or is_more
        elif node.star == "**":
            tables = _tables(value)
            options.update(_options(ev, tables))
            is_open = is_open or not tables
            mappings += [] if tables else [value]
        elif node.keyword is not None:
            options[node.keyword] = value
        else:
            args.append(value)
    return Arguments(tuple(args), options, is_open, tuple(mappings))


def _tables(value: Value) -> list[tuple[Guards, Table]]:
    """The dicts that a value may be, with the conditions of each; none where it may be something else."""
    found = [(guards, one) for guards, one in ways(value) if isinstance(one, Table) and not one.others]
    return found if len(found) == sum(1 for _ in ways(value)) else []


def _options(ev: Evaluator, tables: list[tuple[Guards, Table]]) -> dict[str, Value]:
    """What `**` of one of these dicts hands over; what only some of them hold may be missing."""
    names = dict.fromkeys(name for _, one in tables for name in one.entries)
    missing = Missing(loops=ev.loops)
    return {
        str(name): one_of((guards, one.entries.get(name, missing)) for guards, one in tables)
        for name in names
    }


def _subscript(ev: Evaluator, node: s.Subscript) -> Value:
    value = ev.expr(node.value)
    index = ev.expr(node.index)
    return standing_in.known(
        ev, node, names.seen(ev, names.settle(ev, subscripts.item(ev, value, index, node.at)))
    )


def _collection(ev: Evaluator, node: s.Collection) -> Value:
    items: list[Value] = []
    exact, is_begun = True, False
    for item in node.items:
        is_begun = False
        if isinstance(item, s.Starred):
            value = as_one_list(ev.expr(item.value))
            if isinstance(value, Items):
                items.extend(value.items)
                exact = exact and value.exact
            else:
                items.append(elements.element(ev, value, item.at))
                exact, is_begun = False, exact and len(items) <= limits.MAX_ITEMS
        else:
            items.append(ev.expr(item))
    items, exact = bounded(ev, items, exact=exact)
    at, branch = ev.place(node.at), len(ev.guards)
    made = Items(kind=node.kind, items=items, exact=exact, at=at, branch=branch, loops=ev.loops)
    made.is_begun = made.open_end = is_begun and node.kind != "set"
    return made


def _mapping(ev: Evaluator, node: s.Mapping) -> Value:
    table = Table(loops=ev.loops, made_under=ev.guards)
    for key, one in node.items:
        value = ev.expr(one)
        if key is None:
            if isinstance(value, Table):
                table.entries.update(value.entries)
                table.others = once((*table.others, *value.others))
            else:
                table.others.append(value)
            continue
        found = ev.expr(key)
        if isinstance(found, Constant) and _hashable(found.value):
            called.note(value, found.value)
            table.entries[found.value] = value
        else:
            table.others.append(value)
    return table


def _operation(ev: Evaluator, node: s.Operation) -> Value:
    if node.operator in ("and", "or"):
        return _boolean(ev, node)
    if node.operator in ("in", "not in"):  # what a dict holds is not looked at
        operands: tuple[Value, ...] = (ev.expr(node.operands[0]), unseen(ev, node.operands[1]))
        if (
            isinstance(operands[1], Table)
            and (held := namespaces.holds(ev, operands[1], operands[0])) is not None
        ):
            return Constant(value=held == (node.operator == "in"))
    else:
        operands = tuple(ev.expr(one) for one in node.operands)
    return arithmetic(ev, node.operator, operands, node.at, ev.label(node))


def _boolean(ev: Evaluator, node: s.Operation) -> Value:
    """A whole chain `a and b and c`, which nests to the left: what `a and b` is known to be serves for `c` too."""
    operator, links = node.operator, [node]
    while isinstance(inner := links[-1].operands[0], s.Operation) and inner.operator == operator:
        links.append(inner)
    ev.spend(len(links) - 1)
    known = ev.known
    value = ev.expr(links[-1].operands[0])
    decided = conditions.truth(value, known)
    assumed: dict[Any, bool] | None = None
    for link in reversed(links):
        if decided is not None:
            if decided == (operator == "or"):
                break
            value, assumed = ev.expr(link.operands[1]), None
            decided = conditions.truth(value, known)
            continue
        if assumed is None:
            assumed = {**known, **dict(conditions.implied(value, operator == "and"))}
        with ev.inside(known=assumed):
            second = ev.expr(link.operands[1])
        value = ev.op(operator, (value, second), link.at)
        decided = conditions.truth_of_link(value, None, conditions.truth(second, known), known)
        condition, polarity = conditions.guard(value)
        assumed[condition] = polarity == (operator == "and")
        assumed.update(conditions.implied(second, operator == "and"))
    return _or_made(ev, value) or value


def _or_made(ev: Evaluator, value: Value) -> Value | None:
    """`given or CrossEntropyLoss()`, where `None` is given if nothing is: what is given, or what is made here; None for anything
    else."""
    match value:
        case Op(name="or", inputs=(Choice(options=options), Object() as made)) if all(
            isinstance(one, Object) or _is_nothing(one) for _, one in options
        ):
            return one_of((guards, made if _is_nothing(one) else one) for guards, one in options)
        case Op(name="or", inputs=(Constant(is_default=True) as first, Object() as made)) if _is_nothing(
            first
        ):
            given = ev.unknown()
            is_given = conditions.key(given)
            return one_of((((((is_given, True),), given)), (((is_given, False),), made)))
    return None


def _is_nothing(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None


def arithmetic(
    ev: Evaluator, operator: str, operands: tuple[Value, ...], at: s.Span, text: str = ""
) -> Value:
    folded = folding.fold(operator, operands)
    if folded is not None:
        return folded
    own = overloads.overloaded(ev, operator, operands, at)
    if own is not None:
        return own
    if operator == "+" and all(isinstance(one, Items) for one in operands):
        first, second = operands
        assert isinstance(first, Items) and isinstance(second, Items)
        return joined(ev, first, second)
    if operator == "|" and all(isinstance(one, Table) for one in operands):
        entries = {
            key: value for one in operands if isinstance(one, Table) for key, value in one.entries.items()
        }
        others = [value for one in operands if isinstance(one, Table) for value in one.others]
        return Table(entries=entries, others=others, loops=ev.loops)
    for one, count in (operands, operands[::-1]) if operator == "*" and len(operands) == 2 else ():
        if isinstance(one, Items):
            return Items(
                kind=one.kind,
                items=list(one.items),
                exact=False,
                at=one.at,
                repeated=_repeated(ev, one, count, at),
            )
    return ev.op(operator, operands, at, text)


def _repeated(ev: Evaluator, items: Items, count: Value, at: s.Span) -> tuple[tuple[Place, Value], ...]:
    """What a multiplication certainly puts into a list several times, where no option asks for it."""
    if _by_default(count) in (0, 1) or not ev.is_plainly_reached():
        return items.repeated
    return (*items.repeated, *((ev.place(at), one) for one in items.items))


def _by_default(count: Value) -> object:
    """What a count is where nobody overrides a default, such as `n_layers - 2`; None where that is not in sight."""
    if isinstance(count, Op):
        plain = (Constant(value=one.value) if isinstance(one, Constant) else one for one in count.inputs)
        count = folding.fold(count.name, tuple(plain)) or count
    return count.value if isinstance(count, Constant) else None


def _conditional(ev: Evaluator, node: s.Conditional) -> Value:
    test = ev.expr(node.test)
    outcome = conditions.truth(test, ev.known)
    if outcome is not None:
        return ev.expr(node.then if outcome else node.otherwise)
    if shape.are_alike(node.then, node.otherwise):
        return ev.expr(node.then)
    known = ev.known
    guard = condition, polarity = conditions.guard(test)
    guards = ev.guards
    with ev.inside(known={**known, **dict(conditions.implied(test, True, guard))}, guards=(*guards, guard)):
        then = narrowing.told(ev, ev.expr(node.then), guard, node.then.at)
    other = (condition, not polarity)
    with ev.inside(known={**known, **dict(conditions.implied(test, False, guard))}, guards=(*guards, other)):
        otherwise = narrowing.told(ev, ev.expr(node.otherwise), other, node.otherwise.at)
    ev.varying.setdefault(condition, conditions.varies(test))
    return one_of((((guard,), then), ((other,), otherwise)))


def _lambda(ev: Evaluator, node: s.Lambda) -> Value:
    return decorating.define_function(ev, node.function)


def _starred(ev: Evaluator, node: s.Starred) -> Value:
    return ev.expr(node.value)


def _walrus(ev: Evaluator, node: s.Walrus) -> Value:
    value = ev.expr(node.value)
    assigning.assign_as_written(ev, node.target, node.value, value)
    return value


def _text(ev: Evaluator, node: s.Text) -> Value:
    fields = tuple(ev.expr(part) for part in node.parts)
    for one in fields:
        host.note_reading(ev, "format", one, node.at)
    return Written(text="text", loops=ev.loops, fields=fields, head=node.head, tail=node.tail)


def _yield(ev: Evaluator, node: s.Yield) -> Value:
    frame = ev.frames[-1]
    value = ev.expr(node.value) if node.value is not None else Constant(value=None)
    is_plain = ev.loops == frame.loops and ev.is_plainly_reached()
    if node.is_from and isinstance(value, Items):
        frame.yields.extend(value.items)
        is_plain = is_plain and value.exact
    elif node.is_from:
        is_plain = False
        with loops.loop(ev, node.at, value):
            frame.yields.append(elements.element(ev, value, node.at))
    else:
        frame.yields.append(value)
    frame.yields_plainly = frame.yields_plainly and is_plain
    frame.yield_records, frame.yield_autocast = ev.records, ev.here.autocast
    if ev.loops == frame.loops:
        frame.paused[id(ev.nodes)] = (ev.nodes, len(ev.nodes))
    return ev.unknown("sent")


def _hashable(value: object) -> bool:
    return isinstance(value, (str, int, float, bool, bytes, type(None)))


EVALUATE: dict[type, Callable[[Evaluator, Any], Value]] = {
    s.Name: _name,
    s.Attribute: _attribute,
    s.Constant: _constant,
    s.Call: _call,
    s.Subscript: _subscript,
    s.Collection: _collection,
    s.Mapping: _mapping,
    s.Operation: _operation,
    s.Conditional: _conditional,
    s.Lambda: _lambda,
    s.Starred: _starred,
    s.Comprehension: comprehension,
    s.Walrus: _walrus,
    s.Text: _text,
    s.Yield: _yield,
}
