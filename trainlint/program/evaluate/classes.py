"""Functions and classes of the program: how they are defined, looked up, instantiated and given arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from trainlint import limits
from trainlint.facts.api import frameworks as owners
from trainlint.facts.api.classes import (
    DICTS,
    LISTS,
    METRICS,
    MODULE,
    OPTIMIZER,
    PARAMETER,
    RECORD_MAKERS,
    RECORDS,
    SETTINGS,
)
from trainlint.facts.api.torch_names import bases_of_class
from trainlint.facts.ask.guards import needs_failed_import
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import Built, SetEarly
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.values import Constant, Items, Object, Op, Value, alternatives, constant, ways
from trainlint.program.evaluate import (
    attributes,
    blocks,
    containers,
    frozen_before,
    keys,
    names,
    own_attributes,
    unseen_bases,
)
from trainlint.program.evaluate.keys import INITIALISED
from trainlint.program.evaluate.parallel_classes import wrapper_of
from trainlint.program.evaluate.signatures import raises_at_once
from trainlint.program.evaluate.values import (
    Arguments,
    Bound,
    ClassValue,
    FunctionValue,
    Library,
    Partial,
    Super,
)
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_Made = TypeVar("_Made", bound=Value)


def define_class(ev: Evaluator, code: s.Class) -> Value:
    """The value that a `class` statement binds; its body has been evaluated."""
    bases: list[Value] = []
    for base in code.bases:
        if base.keyword is None:
            bases.extend(_meant(ev.expr(base.value)))
    known: set[str] = set()
    has_unknown = False
    fields: list[str] = []
    for one in bases:
        if isinstance(one, ClassValue):
            known |= one.library_bases
            has_unknown = has_unknown or one.has_unknown_base
            fields.extend(one.fields)
        elif isinstance(one, Library):
            found = bases_of_class(one.name)
            is_unseen = len(found) == 1 and unseen_bases.is_module(one, code)
            known |= found | {MODULE} if is_unseen else found
            has_unknown = has_unknown or is_unseen
        else:
            has_unknown = True
    env = ev.new_env(ev.env.path, ev.env, is_class=True)
    env.keep()
    made = ClassValue(
        code=code, env=env, bases=tuple(bases), library_bases=frozenset(known), has_unknown_base=has_unknown
    )
    decorators = [ev.expr(node) for node in code.decorators]
    made.is_dataclass = (
        not RECORDS.isdisjoint(known)
        or any(_is_dataclass(decorator) for decorator in decorators)
        or any(isinstance(one, ClassValue) and one.is_dataclass for one in bases)
    )
    frame = ev.frames[-1]
    outer, frame.env = frame.env, env
    try:
        blocks.block(ev, code.body)
    finally:
        frame.env = outer
    made.fields = tuple(dict.fromkeys((*fields, *_own_fields(ev, made))))
    made.answers = own_attributes.answered(ev, made)
    for value in ev.store.owned(env.uid).values():
        while isinstance(value, FunctionValue) and value.owner is None:
            value.owner = made
            if value.setter is not None:
                value.setter.owner = made
            if value.code.name == "update" and any(base.startswith(METRICS) for base in known):
                value.records = False
            value = value.wraps  # type: ignore[assignment]
    _tell_base(ev, made)
    for expr, decorator in zip(code.decorators, decorators, strict=True):
        if isinstance(decorator, FunctionValue):
            with ev.at_most("DECORATOR_STEPS"):
                ev.call_function(decorator, Arguments((made,)), expr.at)
    return made


def _own_fields(ev: Evaluator, cls: ClassValue) -> Iterator[str]:
    """The names that the body of a class annotates, or sets to `attr.ib()`."""
    for node in cls.code.body:
        match node:
            case s.Assign(targets=(s.Name(name=name),), annotation=declared):
                if declared is not None or (
                    cls.is_dataclass and _is_field(ev.store.get((cls.env.uid, name)))
                ):
                    yield name


def _tell_base(ev: Evaluator, made: ClassValue) -> None:
    """What a class that this one inherits from does with each class of its kind: it may enter it under its name."""
    told = _inherited(ev, made.bases, "__init_subclass__") if made.bases else None
    if isinstance(told, FunctionValue):
        options = {one.keyword: ev.expr(one.value) for one in made.code.bases if one.keyword is not None}
        with ev.at_most("DECORATOR_STEPS"):
            ev.call_function(told, Arguments((made,), options), made.code.at, made)


def _meant(base: Value) -> list[Value]:
    """What a class may inherit from, without what only stands in for something that cannot be imported."""
    found = list(ways(base))
    return [one for guards, one in found if not needs_failed_import(guards)] or [one for _, one in found]


def _is_dataclass(decorator: Value) -> bool:
    return any(
        isinstance(one, (Library, Op)) and (one.name.endswith("dataclass") or one.name in RECORD_MAKERS)
        for one in alternatives(decorator)
    )


def _is_field(value: Value | None) -> TypeGuard[Op]:
    """Whether a class attribute is `field(...)`, or what other libraries call that."""
    return isinstance(value, Op) and value.name.endswith(("field", ".Field", "attr.ib", "attr.attrib"))


def ancestry(cls: ClassValue) -> Iterable[ClassValue]:
    """A class and the program's classes that it inherits from, nearest first."""
    pending = [cls]
    found: dict[ClassValue, None] = {}
    while pending:
        one = pending.pop()
        if one not in found:
            found[one] = None
            for base in reversed(one.bases):
                if isinstance(base, ClassValue):
                    pending.append(base)
    return found


def methods(ev: Evaluator, cls: ClassValue) -> list[s.Function]:
    """The code of all methods of a class, the nearest first; what is said of it follows from that."""
    return _methods_of(ev, ancestry(cls))


def own_methods(ev: Evaluator, cls: ClassValue) -> list[s.Function]:
    """The code of the methods that a class defines itself."""
    return _methods_of(ev, [cls])


def _methods_of(ev: Evaluator, several: Iterable[ClassValue]) -> list[s.Function]:
    found: list[s.Function] = []
    used = ev.trace.code
    for cls in several:
        for node in cls.code.body:
            if isinstance(node, s.Function):
                found.append(node)
                used.add((cls.env.path, node.at[0]))
    return found


def class_attribute(ev: Evaluator, cls: ClassValue, name: str) -> Value | None:
    """What the class or one of its bases holds under a name."""
    return _attribute(ev, cls, (cls,), name)


def _attribute(ev: Evaluator, cls: ClassValue, classes: tuple[Value, ...], name: str) -> Value | None:
    """The same, as some classes hold or inherit it."""
    found = _inherited(ev, classes, name)
    if found is None:
        return None
    found = names.settle(ev, found)
    if isinstance(found, FunctionValue):
        ev.trace.code.update((one.env.path, one.code.at[0]) for one in (found, found.origin))
        if found.kind == "class":
            return Bound(receiver=cls, name=name, function=found)
    return found


def _inherited(ev: Evaluator, classes: tuple[Value, ...], name: str) -> Value | None:
    """The first that `ancestry` would lead to: this is asked too often for a generator.

    `nn.Module` has an `__init__` of its own: those of plain classes that come after it are not called.
    """
    pending: list[Value] = [*reversed(classes)]
    seen: set[int] = set()
    is_past_module = False
    while pending:
        one = pending.pop()
        if name == "__init__" and isinstance(one, Library) and MODULE in bases_of_class(one.name):
            is_past_module = True
        if is_past_module and isinstance(one, ClassValue) and MODULE not in one.library_bases:
            continue
        if isinstance(one, ClassValue) and one.uid not in seen:
            seen.add(one.uid)
            found = ev.store.get((one.env.uid, name))
            if found is not None:
                return found
            pending.extend(reversed(one.bases))
    return None


def object_attribute(ev: Evaluator, value: Object, name: str, at: s.Span) -> Value:
    """An attribute that the object itself does not hold: its class's, or a library's."""
    is_known = value.is_a(OPTIMIZER) and name in ("step", "zero_grad")
    if isinstance(value.definition, ClassValue) and not is_known:
        found = class_attribute(ev, value.definition, name)
        if isinstance(found, FunctionValue):
            return _bound(ev, value, found, at)
        if isinstance(found, Partial) and found.is_method:
            return replace(found, args=(value, *found.args), is_method=False)
        if found is not None:
            return found
        if own_attributes.LOOKS_UP in value.definition.answers:
            found = own_attributes.given(ev, value, value.definition, name, at)
            if found is not None:
                return found
    return attributes.object_attribute(ev, value, name, at)


def super_attribute(ev: Evaluator, value: Super, name: str) -> Value:
    """A method of the next class after the one whose code says `super()`."""
    assert value.owner is not None
    found = _attribute(ev, value.owner, value.owner.bases, name)
    if isinstance(found, FunctionValue):
        return Bound(receiver=value.receiver, name=name, function=found)
    return found if found is not None else Bound(receiver=value.receiver, name=f"super.{name}")


def _bound(ev: Evaluator, receiver: Object, function: FunctionValue, at: s.Span) -> Value:
    if function.kind == "property":
        return _property(ev, receiver, function, at)
    if function.kind == "static":
        return function
    return Bound(receiver=receiver, name=function.origin.code.name, function=function)


def _property(ev: Evaluator, receiver: Object, function: FunctionValue, at: s.Span) -> Value:
    """What a property gives. Where calls are no longer followed that is not known, but the same each time, as an attribute."""
    if ev.follows():
        return ev.call_function(function, Arguments((receiver,)), at, receiver)
    key = (receiver.uid, keys.not_followed(function.origin.code.name))
    held = ev.store.get(key)
    if held is None:
        held = ev.call_function(function, Arguments((receiver,)), at, receiver)
        ev.store.set(key, held)
    return held


def has_method(ev: Evaluator, cls: ClassValue, name: str) -> bool:
    return isinstance(class_attribute(ev, cls, name), FunctionValue)


def instantiate(ev: Evaluator, cls: ClassValue, given: Arguments, at: s.Span) -> Value:
    """`Class(...)`."""
    if cls.code.name == "Tensor":
        made_of = ev.op("Tensor", given.args, at, "Tensor(…)", given.options)
        made_of.hung_on = _parents(given)
        return made_of
    if any(name.startswith("enum.") for name in cls.library_bases):
        return ev.unknown(cls.code.name)
    if (wrapper := wrapper_of(cls)) is not None and given.get(0, "module") is not None:
        return ev.call(wrapper, given, at, cls.code.name)
    init = class_attribute(ev, cls, "__init__")
    if isinstance(init, FunctionValue) and raises_at_once(
        init, Arguments((init, *given.args), given.options)
    ):
        ev.emit(Escape, at, values=given.all())
        return ev.unknown(cls.code.name)
    if (other := _made_by_new(ev, cls, given, at)) is not None:
        return other
    made = ev.object(cls.code.name, cls.library_bases, at, given, cls)
    made.only_holds = made.is_a(OPTIMIZER) and _has_no_step(ev, cls)
    if cls.has_unknown_base:
        ev.store.set((made.uid, INITIALISED), Constant(value=True))
    if made.is_a(owners.LIGHTNING) and class_attribute(ev, cls, owners.AUTOMATIC) is None:
        ev.store.set((made.uid, owners.AUTOMATIC), Constant(value=True))
    if isinstance(init, FunctionValue):
        ev.call_function(init, Arguments((made, *given.args), given.options, given.open), at, made)
    else:
        ev.store.set((made.uid, INITIALISED), Constant(value=True))
        if cls.is_dataclass:
            _fill_fields(ev, made, cls, given, at)
        elif made.is_a("torch.nn.Sequential", *DICTS, *LISTS):
            containers.fill_container(ev, made, given)
    ev.emit(Built, at, object=made, **ev.building(), is_raw=_is_raw(ev, made, cls))
    return made


def _made_by_new(ev: Evaluator, cls: ClassValue, given: Arguments, at: s.Span) -> Value | None:
    """What a class gives instead of an instance of its own: its `__new__` makes another object, as a function would."""
    new = class_attribute(ev, cls, "__new__")
    if not isinstance(new, FunctionValue) or not _OF_ITS_OWN.isdisjoint(new.origin.code.names):
        return None
    found = ev.call_function(new, Arguments((cls, *given.args), given.options, given.open), at, cls)
    are_others = all(isinstance(one, Object) and one.definition is not cls for one in alternatives(found))
    return found if are_others else None


_OF_ITS_OWN = frozenset(("super", "__new__", "_instance", "_instances"))
"""What stands in a `__new__` that makes an instance of the class itself."""


def _has_no_step(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a class takes nothing from torch's optimizers but the base of all, whose `step` does nothing."""
    is_base = cls.library_bases == bases_of_class("torch.optim.Optimizer")
    return is_base and class_attribute(ev, cls, "step") is None


def _is_raw(ev: Evaluator, made: Object, cls: ClassValue) -> bool:
    """Whether a module has been made without the constructor of `nn.Module`, whose `__call__` it has."""
    is_initialised = MODULE not in made.bases or ev.store.get((made.uid, INITIALISED)) is not None
    return not is_initialised and not has_method(ev, cls, "__call__")


def _parents(given: Arguments) -> Items | None:
    """The tensors of which a small framework's tensor is told, beside its values, that it was made."""
    for one in (*given.args[1:], *given.options.values()):
        if isinstance(one, Items) and any(not isinstance(held, Constant) for held in one.items):
            return one
    return None


def prototype(ev: Evaluator, cls: ClassValue) -> Object | None:
    """An instance of a class that the program never makes, from arguments of which nothing is known."""
    made = instantiate(ev, cls, Arguments(open=True), cls.code.at)
    if not isinstance(made, Object):
        return None
    bases = made.bases | ({owners.DATA} if _gives_loaders(ev, cls) else frozenset())
    for name in sorted({owners.SETS_UP[base] for base in bases & owners.SETS_UP.keys()}):
        first = class_attribute(ev, cls, name)
        if isinstance(first, FunctionValue):
            ev.call_function(first, Arguments((made,), open=True), cls.code.at, made)
    return made


def given(ev: Evaluator, cls: ClassValue, at: s.Span) -> Object:
    """An instance of a class that code out of sight has made: it has what its constructor gives it."""

    def make() -> Object:
        made = ev.object(cls.code.name, cls.library_bases, at, Arguments(open=True), cls)
        init = class_attribute(ev, cls, "__init__")
        if isinstance(init, FunctionValue):
            ev.call_function(init, Arguments((made,), open=True), at, made)
        return made

    nodes: list[Node] = []
    made = elsewhere(ev, make, nodes)
    frozen_before.hand_on(ev, nodes, lambda: methods(ev, cls))
    return made


def elsewhere(ev: Evaluator, make: Callable[[], _Made], nodes: list[Node] | None = None) -> _Made:
    """What code out of sight has had made, and may have changed since: nothing of it happens here, and what is called for it is
    entered on its own all the same. What had happened then is put into `nodes`."""
    begun, reached = len(ev.objects), set(ev.trace.reached)
    with ev.inside(nodes=[] if nodes is None else nodes, loops=(), guards=()), ev.at_most("DECLARED_STEPS"):
        made = make()
    ev.trace.reached &= reached
    for one in ev.objects[begun:]:
        one.is_given = True
    return made


def _gives_loaders(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a class has the methods of Lightning's data modules, whatever it inherits from."""
    return any(owners.GIVES_LOADER.fullmatch(one.name) for one in methods(ev, cls))


def _fill_fields(ev: Evaluator, made: Object, cls: ClassValue, given: Arguments, at: s.Span) -> None:
    is_open = given.open or not cls.library_bases.isdisjoint(SETTINGS)
    for position, name in enumerate(cls.fields):
        value = given.get(position, name)
        if value is None:
            value = class_attribute(ev, cls, name)
            if _is_field(value):
                value = _field_default(ev, value, at)
                if is_open and isinstance(value, Constant):
                    value = overridable(ev, value, name)
            elif is_open:
                value = overridable(ev, value, name)
        ev.store.set((made.uid, name), value or ev.unknown(name))
    after = class_attribute(ev, cls, "__post_init__")
    if isinstance(after, FunctionValue):
        wanted = [one.name for one in after.origin.code.parameters[1:] if one.name in cls.fields]
        options = {name: held for name in wanted if (held := ev.store.get((made.uid, name))) is not None}
        ev.call_function(after, Arguments((made,), options), at, made)


def _field_default(ev: Evaluator, field: Op, at: s.Span) -> Value | None:
    default = field.option(0, "default") if field.name.endswith(".Field") else field.options.get("default")
    if default is not None:
        return None if constant(default) is ... else default
    ev.spend(limits.CALL_STEPS)
    factory = field.options.get("default_factory") or field.options.get("factory")
    if factory is not None and ev.follows():
        return ev.call(factory, Arguments(), at, "default_factory(…)")
    return None


def overridable(ev: Evaluator, default: Value | None, name: str) -> Value:
    """A default that the unseen caller may have replaced."""
    if isinstance(default, Constant):
        return Constant(value=default.value, at=default.at, is_default=True)
    return ev.unknown(name)


def note_registration(ev: Evaluator, target: Object, name: str, value: Value, at: s.Span) -> None:
    """An attribute is set on a module whose base class has not been initialised yet."""
    if MODULE not in target.bases or not isinstance(target.definition, ClassValue):
        return
    if ev.store.get((target.uid, INITIALISED)) is not None:
        return
    if any(map(_is_made_otherwise, ancestry(target.definition))):
        return
    frame = ev.frames[-1]
    if frame.receiver is target and frame.code is not None and frame.code.name == "__init__":
        ev.emit(
            SetEarly,
            at,
            module=target,
            attribute=name,
            registers=all(map(is_registered, alternatives(value))),
        )


def _is_made_otherwise(cls: ClassValue) -> bool:
    """Whether a metaclass has a say in how instances come about: it may well initialise the base class."""
    metaclasses = (base.value for base in cls.code.bases if base.keyword == "metaclass")
    return any(getattr(one, "name", "") != "ABCMeta" for one in metaclasses)


def is_registered(value: Value) -> bool:
    """Whether torch registers a value that is set as an attribute of a module."""
    return (isinstance(value, Object) and MODULE in value.bases) or (
        isinstance(value, Op) and value.name == PARAMETER
    )
