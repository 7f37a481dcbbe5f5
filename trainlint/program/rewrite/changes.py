"""Changes of expressions, made: what a place becomes, in libcst's nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from trainlint.finding import Place
from trainlint.fix import DropArgument, DropItem, Rewrite, SetArgument, SwapArguments
from trainlint.program.rewrite import arguments
from trainlint.program.rewrite.names import Names, is_stored
from trainlint.program.rewrite.patterns import Found, found, parsed
from trainlint.program.rewrite.reads import is_read_again
from trainlint.program.rewrite.templates import CannotBeWritten, Filled, fitting
from trainlint.program.rewrite.tree import Tree


class CannotBeMade(Exception):
    """What stands at the place is not what a change is for."""


@dataclass(frozen=True)
class Replacement:
    """Nodes in the place of one, and the modules that have to be imported for them."""

    old: cst.CSTNode
    new: cst.CSTNode | Sequence[cst.CSTNode]
    imports: frozenset[str] = frozenset()


def rewritten(change: Rewrite, tree: Tree, names: Names) -> Replacement:
    for pattern, template in change.cases:
        node = _node(tree, change.at, parsed(pattern))
        match = found(pattern, node, names) if node is not None else None
        if node is None or match is None:
            continue
        if change.for_one and is_read_again(node, tree):
            raise CannotBeMade
        new, imports = filled(template, match, names, node)
        if isinstance(new, cst.BaseExpression) and isinstance(node, cst.BaseExpression):
            if is_stored(node, tree.parent(node)) and not isinstance(new, (cst.Name, cst.Attribute)):
                raise CannotBeMade
            if node.lpar and not new.lpar:
                new = new.with_changes(lpar=node.lpar, rpar=node.rpar)
            new = fitting(new, tree.parent(node))
        elif isinstance(node, cst.BaseSmallStatement):
            small = new if isinstance(new, cst.BaseSmallStatement) else cst.Expr(new)
            new = small.with_changes(semicolon=node.semicolon)
        return Replacement(node, new, imports)
    raise CannotBeMade


def filled(
    template: str, match: Found, names: Names, where: cst.CSTNode
) -> tuple[cst.BaseExpression | cst.BaseSmallStatement, frozenset[str]]:
    """A template as source, and what it needs imported."""
    try:
        made = Filled(template, match, names, where)
    except CannotBeWritten:
        raise CannotBeMade from None
    return made.node, frozenset(made.imports)


def _node(tree: Tree, at: Place, pattern: cst.CSTNode) -> cst.CSTNode | None:
    """What a pattern is held against: the expression at a place, or the statement around it."""
    return tree.expression(at) if isinstance(pattern, cst.BaseExpression) else tree.statement(at)


def argument_set(change: SetArgument, tree: Tree, names: Names) -> Replacement:
    call = _call(tree, change.at)
    number = _place_of(call, change.name, change.position)
    match = Found({f"_{one.keyword.value}": one.value for one in call.args if one.keyword is not None})
    if "_self" in change.value:
        match.holes["_self"] = _instance(tree, call, names)
    if number is None:
        if change.given is not None or any(one.star == "**" for one in call.args):
            raise CannotBeMade
        value, imports = _value(change.value, match, names, call)
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        made = cst.Arg(value, keyword=cst.Name(change.name), equal=equal)
        return Replacement(call, arguments.with_last(call, made), imports)
    given = call.args[number]
    if change.given is None or found(change.given, given.value, names) is None:
        raise CannotBeMade
    match.holes["_given"] = given.value
    value, imports = _value(change.value, match, names, call)
    return Replacement(given.value, value, imports)


def _value(
    template: str, match: Found, names: Names, where: cst.CSTNode
) -> tuple[cst.BaseExpression, frozenset[str]]:
    value, imports = filled(template, match, names, where)
    assert isinstance(value, cst.BaseExpression)
    return value, imports


def argument_dropped(change: DropArgument, tree: Tree, names: Names) -> Replacement:
    call = _call(tree, change.at)
    number = _place_of(call, change.name, None)
    if number is None or found(change.given, call.args[number].value, names) is None:
        raise CannotBeMade
    return Replacement(call, arguments.without(call, number))


def arguments_swapped(change: SwapArguments, tree: Tree, names: Names) -> Replacement:
    call = _call(tree, change.at)
    if len(call.args) < 2 or any(one.keyword is not None or one.star for one in call.args[:2]):
        raise CannotBeMade
    first, second, *rest = call.args
    return Replacement(
        call,
        call.with_changes(
            args=[first.with_changes(value=second.value), second.with_changes(value=first.value), *rest]
        ),
    )


def item_dropped(change: DropItem, tree: Tree, names: Names) -> Replacement:
    item = tree.expression(change.at)
    argument = tree.parent(item) if item is not None else None
    call = tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if (
        isinstance(argument, cst.Arg)
        and isinstance(call, cst.Call)
        and names.full(call.func) == change.of
        and len(call.args) > 1
    ):
        number = next(number for number, one in enumerate(call.args) if one is argument)
        return Replacement(call, arguments.without(call, number))
    raise CannotBeMade


def _call(tree: Tree, at: Place) -> cst.Call:
    call = tree.call(at)
    if call is None:
        raise CannotBeMade
    return call


def _place_of(call: cst.Call, name: str, position: int | None) -> int | None:
    """Where an argument is given, by name or by position. Raises CannotBeMade where that cannot be seen."""
    for number, one in enumerate(call.args):
        if one.keyword is not None and one.keyword.value == name:
            return number
        if position is not None and number <= position and one.star:
            raise CannotBeMade
        if number == position and one.keyword is None and not one.star:
            return number
    return None


def _instance(tree: Tree, node: cst.CSTNode, names: Names) -> cst.BaseExpression:
    """What the method around a node calls its instance, which has to be a module."""
    around = list(tree.around(node))
    for number, one in enumerate(around):
        holder = around[number + 2] if number + 2 < len(around) else None
        if isinstance(one, cst.FunctionDef) and isinstance(holder, cst.ClassDef):
            parameters = (*one.params.posonly_params, *one.params.params)
            static = any(getattr(each.decorator, "value", "") == "staticmethod" for each in one.decorators)
            if parameters and not static and _is_module(holder, names):
                return cst.Name(parameters[0].name.value)
            break
    raise CannotBeMade


def _is_module(node: cst.CSTNode, names: Names) -> bool:
    """Whether a class has a forward, or is made from one of torch's modules."""
    assert isinstance(node, cst.ClassDef)
    methods = [one.name.value for one in node.body.body if isinstance(one, cst.FunctionDef)]
    bases = [names.full(one.value) or "" for one in node.bases]
    return "forward" in methods or any(base.startswith("torch.nn.") for base in bases)
