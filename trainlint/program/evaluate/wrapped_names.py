"""Names that hold a wrapper of a module: the module answers for it, but the keys of its state have a prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.wrappers import PREFIXES
from trainlint.facts.model.events.modules import StateLoaded, StateTaken
from trainlint.facts.model.values import Constant, Object, Value
from trainlint.program.evaluate import keys
from trainlint.program.evaluate.values import Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_Key = tuple[int, str]


def note_assigned(ev: Evaluator, target: s.Expr, node: s.Expr, value: Value) -> None:
    """`model = torch.compile(model)`; any other assignment but that of `model.to(...)` ends it."""
    key = _key(ev, target)
    if key is None or not isinstance(value, Object):
        return
    prefix = _prefix_of_call(ev, node)
    if prefix:
        ev.store.set(key, Constant(value=prefix, at=ev.place(node.at)))
    elif ev.store.get(key) is not None and not _is_method_of(node, target):
        ev.store.set(key, Constant(value=""))


def note_state(ev: Evaluator, node: s.Call) -> None:
    """The event of `model.state_dict()` that has just happened, of a name that holds a wrapper."""
    if not isinstance(node.func, s.Attribute) or node.func.name not in ("state_dict", "load_state_dict"):
        return
    key = _key(ev, node.func.value)
    found = ev.store.get(key) if key is not None else None
    last = ev.nodes[-1] if ev.nodes else None
    if isinstance(found, Constant) and found.value and isinstance(last, (StateTaken, StateLoaded)):
        last.prefix, last.wrapped_at = found.value, found.at


def _prefix_of_call(ev: Evaluator, node: s.Expr) -> str:
    if not isinstance(node, s.Call) or not isinstance(node.func, (s.Name, s.Attribute)):
        return ""
    if node.func.name not in _LAST:
        return ""
    function = ev.expr(node.func)
    return PREFIXES.get(function.name, "") if isinstance(function, Library) else ""


_LAST = frozenset(name.rpartition(".")[2] for name in PREFIXES) | {"DDP", "DP"}


def _is_method_of(node: s.Expr, target: s.Expr) -> bool:
    """Whether it is `model.to(device)`, or the like, of what a name already holds."""
    match node, target:
        case s.Call(func=s.Attribute(value=s.Name(name=one))), s.Name(name=other):
            return one == other
    return False


def _key(ev: Evaluator, expr: s.Expr) -> _Key | None:
    """Under what is kept what is known of a name, or of an attribute of an object."""
    match expr:
        case s.Name(name=name):
            env = ev.env
            while env.parent is not None and ev.store.get((env.uid, name)) is None:
                env = env.parent
            return env.uid, keys.prefix(name)
        case s.Attribute(value=s.Name() as owner, name=name):
            held = ev.expr(owner)
            return (held.uid, keys.prefix(name)) if isinstance(held, Object) else None
    return None
