"""Objects that stand in for what is not in sight: a model that a caller hands over, an optimizer from an unknown factory.

What code does with a name says what it is (`source/roles.py`). Of a stand-in, the order of events, modes and graphs can be
judged; what it holds cannot: it is open, on no known device, and made of nothing that is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE, NOT_TORCH, SCALER, SOME_LOSS, SOME_MODULE, SOME_OPTIMIZER
from trainlint.facts.api.frameworks import ACCELERATOR
from trainlint.facts.api.torch_names import library_bases
from trainlint.facts.model.values import MANY, Choice, Constant, Object, Op, Unknown, Value, alternatives
from trainlint.program.evaluate import siblings
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.given_models import given_model
from trainlint.program.source.roles import Part, Role, roles
from trainlint.program.source.spelling import spelled

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

TYPES: Mapping[Role, str] = {
    "module": SOME_MODULE,
    "loss": SOME_LOSS,
    "optimizer": SOME_OPTIMIZER,
    "scheduler": "torch.optim.lr_scheduler.?",
    "scaler": SCALER,
    "accelerator": ACCELERATOR,
}
"""What stands in for each role, as the dotted name of its class."""

_SHOWN = "what it is shown to be"

_KNOWN = ("torch.", "math.", "numpy.", "builtins.", "torchvision.", "random.", "os.")
"""Libraries whose functions make neither models nor optimizers."""

_FROM_FILES = ("load", "torch.jit.load")
"""What gives whatever a file holds, of torch: a whole model, or a dict with one in it."""

_OTHER_FRAMEWORKS = (*NOT_TORCH, "transformers.TF", "transformers.Flax")
"""What these make may look like a module or an optimizer of torch's, and is none."""


class Roles:
    """The roles of names, by the code that uses them; each worked out once."""

    def __init__(self) -> None:
        self._of_code: dict[int, Mapping[str, Part]] = {}

    def of(self, code: s.Function | s.Class | s.Module) -> Mapping[str, Part]:
        """The roles that a function, all methods of a class, or a file outside of both gives to names."""
        found = self._of_code.get(id(code))
        if found is None:
            own = _outside(code.body) if isinstance(code, s.Module) else code.body
            found = self._of_code[id(code)] = {**_given(code), **roles(own)}
        return found

    def forget_code(self) -> None:
        self._of_code.clear()


def _given(code: s.Function | s.Class | s.Module) -> dict[str, Part]:
    name = given_model(code) if isinstance(code, s.Class) else None
    shown = f"`{name}(…)`, the one part that may have what `self.parameters()` gives"
    return {name: Part("module", shown)} if name is not None else {}


def _outside(block: s.Block) -> s.Block:
    """A file without its functions and classes: their own names are other ones."""
    return tuple(node for node in block if not isinstance(node, (s.Function, s.Class)))


def parameter(
    ev: Evaluator, func: FunctionValue, name: str, at: s.Span, *, declared: bool = False
) -> Value | None:
    """What stands in for an argument that nobody hands over; None where nothing says what it is.

    Args:
        declared: its annotation says the same.
    """
    part = _parameter(ev, func, name) or siblings.part(ev, func, name)
    if part is None:
        return None
    told_by = f"nobody in sight calls `{func.code.name}`: what `{name}` is follows from {part.shown_by}"
    made = _made(ev, part, name, at, "" if declared else told_by)
    if isinstance(made, Object):
        made.is_only_switched_on = siblings.is_only_switched_on(ev, part, func.env.path, func.owner)
        made.may_be_a_function &= not declared
    return made


def may_be(ev: Evaluator, func: FunctionValue, name: str, value: Value) -> bool:
    """Whether something may be what a function uses a parameter as."""
    part = _parameter(ev, func, name) or siblings.part(ev, func, name)
    if part is None:
        return True
    bases = (
        {MODULE} if part.role == "loss" else library_bases(TYPES[part.role]) if part.role in TYPES else set()
    )
    return all(isinstance(one, Object) and not one.bases.isdisjoint(bases) for one in alternatives(value))


def argument(ev: Evaluator, func: FunctionValue, name: str, value: Value, at: s.Span) -> Value:
    """An argument, or what stands in for it if only what the function does with it says what it is."""
    if not is_unknown(moved(value)):
        return value
    part = _parameter(ev, func, name)
    return _as(ev, value, part, at, name) if part is not None else _known_elsewhere(ev, value)


def known(ev: Evaluator, node: s.Expr, value: Value) -> Value:
    """The value of an expression, or what stands in for it if only what the evaluated code does with it says what it is."""
    if not is_unknown(moved(value)):
        return value
    owner, name = ev.frames[-1].owner, spelled(node)
    if name is None or (isinstance(value, Choice) and not isinstance(node, s.Name)):
        return value  # which of several an attribute holds is known where it is set
    part = ev.roles.of(ev.frames[-1].code or ev.project.modules[ev.env.path]).get(name)
    if part is None and owner is not None:
        part = _of_attribute(ev, owner, name)
    if part is None:
        return _known_elsewhere(ev, value)
    return _as(ev, value, part, node.at, name, owner)


def _known_elsewhere(ev: Evaluator, value: Value) -> Value:
    """What stands in for a value since another function has shown what it is: the same model, trained there and called here."""
    return ev.store.get((value.uid, _SHOWN)) or value


def _parameter(ev: Evaluator, func: FunctionValue, name: str) -> Part | None:
    found = ev.roles.of(func.code).get(name)
    if found is not None or func.owner is None or func.code.name != "__init__":
        return found
    for node in func.code.body:  # what the other methods do with the attribute that it becomes
        match node:
            case s.Assign(targets=(s.Attribute() as target,), value=value) if value and _is_moved(
                value, name
            ):
                return _of_attribute(ev, func.owner, spelled(target))
    return None


def _is_moved(node: s.Expr, name: str) -> bool:
    """Whether an expression is what a name holds, moved to a device or not."""
    while isinstance(node, s.Call) and isinstance(node.func, s.Attribute) and node.func.name in _MOVES:
        node = node.func.value
    return isinstance(node, s.Name) and node.name == name


def _of_attribute(ev: Evaluator, cls: ClassValue, name: str | None) -> Part | None:
    return ev.roles.of(cls.code).get(name) if name is not None and name.startswith("self.") else None


_MOVES = frozenset("to cuda cpu float double half bfloat16".split())
"""Methods that return the module itself; those of tensors return another tensor."""


def moved(value: Value) -> Value:
    """What is moved to a device or converted: a module is the same object before and after."""
    while isinstance(value, Op) and value.name in _MOVES and value.inputs and value.owner is None:
        value = value.inputs[0]
    return value


def is_unknown(value: Value) -> bool:
    """Whether nothing is known of a value but that code that is not seen has made it, or that a config or a file holds it."""
    match _held_in(value):
        case Unknown() as given:
            return given is not value or given.text != MANY
        case Choice():
            several = list(alternatives(value))
            return bool(several) and all(map(is_unknown, several))
        case Op(name="getattr", inputs=(Object(definition=ClassValue()), *_)):
            return True  # a base class that is not in sight has set it
        case Op(name=name, owner=None):
            return name in ("call", *_FROM_FILES) or (
                "." in name and not name.startswith((*_KNOWN, *_OTHER_FRAMEWORKS))
            )
    return False


def _held_in(value: Value) -> Value:
    """What holds a value: the result of unknown code for one of several that it gives, a config for its entry."""
    inner = value
    while isinstance(inner, Op) and inner.name in ("getitem", "getattr") and inner.inputs:
        inner = inner.inputs[0]
    return value if isinstance(inner, (Object, Choice)) else inner


def _as(
    ev: Evaluator, value: Value, part: Part, at: s.Span, name: str, owner: ClassValue | None = None
) -> Value:
    """What stands in for a value in a role: the same each time that it is asked for."""
    if not is_unknown(value):
        if part.role not in ("module", "loss"):
            return value  # another tensor than the one that was moved
        value = moved(value)
    if part.role in ("target", "batch") and isinstance(value, Op) and isinstance(_held_in(value), Op):
        return value  # its batch, or the tokenizer that made it, says more than its use
    key = (value.uid, f"as {part.role}")
    found = ev.store.get(key)
    if found is None:
        told_by = f"nothing in sight says what `{name}` is made of: what it is follows from {part.shown_by}"
        found = _made(ev, part, "", at, told_by)
        if isinstance(found, Object):
            found.loops = loops_of(value)
            found.stands_for = value
            found.at = value.at if isinstance(value, Op) and value.at is not None else found.at
            held = _of_attribute(ev, owner, name) if owner is not None else None
            if held is not None and owner is not None:
                found.is_only_switched_on = siblings.is_only_switched_on(ev, held, owner.env.path, owner)
        ev.store.set(key, found)
        if part.role in TYPES:
            ev.store.set((value.uid, _SHOWN), found)
        _hold(ev, value, found)
    return found


def _hold(ev: Evaluator, value: Value, found: Value) -> None:
    """Let an object hold what stands in for its attribute: clearing a module clears that part too."""
    match value:
        case Op(name="getattr", inputs=(Object() as holder,), options={"name": Constant(value=str(name))}):
            if ev.store.get((holder.uid, name)) is value:
                ev.store.set((holder.uid, name), found)


def _made(ev: Evaluator, part: Part, name: str, at: s.Span, told_by: str) -> Value:
    if part.role in ("target", "batch"):
        return ev.op("iterate", (ev.unknown(name),), at, name)
    made = ev.object(TYPES[part.role], library_bases(TYPES[part.role]), at, Arguments(open=True))
    made.told_by = told_by
    made.may_be_a_function = not part.has_methods
    return made


def loops_of(value: Value) -> tuple[int, ...]:
    """The loops in which what a value stands for is made: an entry of a config is as old as the config."""
    match value:
        case Op(name="getitem" | "getattr", inputs=(inner, *_)):
            return loops_of(inner)
        case Op() | Unknown() | Object():
            return value.loops
    return ()
