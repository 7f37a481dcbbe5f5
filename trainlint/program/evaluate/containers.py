"""What `nn.Sequential`, `nn.ModuleList`, `defaultdict` and their like hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.classes import DEFAULTDICT, DICTS
from trainlint.facts.model.values import Items, Object, Table, Value
from trainlint.finding import Place
from trainlint.program.api import defaults, dicts, elements, filling
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.own_attributes import SETS
from trainlint.program.evaluate.values import Arguments

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

CONTENTS = "what the container holds"
"""The name under which a container module keeps its items."""


def fill_container(ev: Evaluator, made: Object, given: Arguments) -> None:
    """Give a container module, or an instance of a class over `dict` or `list`, its items."""
    contents: Value
    if made.is_a(DEFAULTDICT):
        contents = defaults.made(ev, given)
    elif made.is_a(*DICTS):
        contents = dicts.new_dict(ev, "dict", given, (0, 0), "dict(…)")
    elif "torch.nn.Sequential" in made.bases:
        first = given.args[0] if given.args else None
        if len(given.args) == 1 and isinstance(first, Table):
            contents = Items(items=list(first.parts()), exact=not first.others, repeated=first.repeated)
        elif len(given.args) == 1 and _is_ordered_pairs(first):
            assert isinstance(first, Items)
            contents = Items(
                items=[
                    one.items[1] if isinstance(one, Items) and len(one.items) == 2 else one
                    for one in first.items
                ],
                exact=first.exact,
            )
        else:
            items: list[Value] = []
            repeated: tuple[tuple[Place, Value], ...] = ()
            for one in given.args:
                items.extend(one.items if isinstance(one, Items) and one.kind == "star" else (one,))
                repeated += one.repeated if isinstance(one, Items) else ()
            last = given.args[-1] if given.args else None
            open_end = isinstance(last, Items) and last.kind == "star" and last.open_end
            contents = Items(
                items=items, exact=not given.open, open_end=open_end, branch=ev.depth(), repeated=repeated
            )
    elif made.bases & {"torch.nn.ModuleDict", "torch.nn.ParameterDict"}:
        first = given.args[0] if given.args else Table()
        contents = first if isinstance(first, Table) else Table(others=[first])
    else:
        first = given.args[0] if given.args else Items()
        contents = (
            Items(
                items=list(first.items),
                exact=first.exact,
                open_end=first.open_end,
                branch=ev.depth(),
                repeated=first.repeated,
            )
            if isinstance(first, Items)
            else Items(items=[elements.element(ev, first, (0, 0))], exact=False)
        )
    ev.store.set((made.uid, CONTENTS), contents)


def note_part(ev: Evaluator, container: Object, name: str, part: Value) -> None:
    """An attribute is set. A module in a `nn.Sequential` is one more layer, or replaces one; a dict may have it as an entry."""
    contents = elements.held(ev, container)
    if isinstance(contents, Table) and container.definition is not None:
        if SETS in container.definition.answers:  # `__setattr__ = dict.__setitem__`
            filling.put(ev, contents, name, part)
        return
    if "torch.nn.Sequential" not in container.bases or not isinstance(contents, Items):
        return
    if not classes.is_registered(part) or ev.store.get((container.uid, name)) is not None:
        return
    filling.append(ev, contents, part)
    if container.args:  # it may be the name of a layer that was given
        contents.exact, contents.open_end = False, True


def _is_ordered_pairs(value: Value | None) -> bool:
    return (
        isinstance(value, Items)
        and bool(value.items)
        and all(isinstance(one, Items) and one.kind == "tuple" and len(one.items) == 2 for one in value.items)
    )
