"""Functions and classes of the program: how they are defined, looked up, instantiated and given arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainlint.facts.api.torch_api import AUTOCAST, LOADER, MODULE, OPTIMIZER, PARAMETER, SCALER, SCHEDULER
from trainlint.facts.api.torch_names import canonical, library_bases
from trainlint.facts.ask.guards import needs_failed_import
from trainlint.facts.model.events import Built, Escape, RegisteredEarly
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value, alternatives, ways
from trainlint.program.api import library, noting
from trainlint.program.evaluate import attributes, containers, standing_in, statements
from trainlint.program.evaluate.values import Arguments, Bound, ClassValue, FunctionValue, Library, Super
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_TYPED = frozenset((MODULE, OPTIMIZER, SCHEDULER, LOADER, SCALER, "accelerate.Accelerator"))
INITIALISED = "__init__ of nn.Module"
"""The name under which an object notes that its base class has been initialised."""


def define_function(ev: Evaluator, code: s.Function) -> Value:
    """The value that a `def` or `lambda` binds."""
    defaults = {one.name: ev.expr(one.default) for one in code.parameters if one.default is not None}
    function = FunctionValue(code=code, env=ev.env, defaults=defaults)
    value: Value = function
    for node in reversed(code.decorators):
        if isinstance(node, s.Attribute) and node.name in ("setter", "deleter", "getter"):
            return ev.lookup(code.name)
        value = _decorated(ev, function, value, ev.expr(node), node)
    return value


def _decorated(ev: Evaluator, function: FunctionValue, value: Value, decorator: Value, node: s.Expr) -> Value:
    match decorator:
        case Library(name="builtins.property" | "functools.cached_property"):
            function.kind = "property"
        case Library(name="builtins.staticmethod"):
            function.kind = "static"
        case Library(name="builtins.classmethod"):
            function.kind = "class"
        case Library(name="contextlib.contextmanager"):
            function.is_context = True
        case FunctionValue() if decorator.code.parameters:
            made = ev.call_function(decorator, Arguments((value,)), node.at)
            return made if isinstance(made, FunctionValue) else value
        case _:
            if isinstance(decorator, Library):
                noting.note_use(ev, decorator.name, node.at, decorator.name, Arguments())
            if isinstance(decorator, Object) and decorator.is_a(AUTOCAST):
                function.autocast += (decorator,)
            change = library.records_inside(decorator)
            if change != "same":
                function.records = change  # type: ignore[assignment]
    return value


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
            known |= library_bases(one.name)
        else:
            has_unknown = True
    env = ev.new_env(ev.env.path, ev.env, is_class=True)
    made = ClassValue(
        code=code, env=env, bases=tuple(bases), library_bases=frozenset(known), has_unknown_base=has_unknown
    )
    decorators = [ev.expr(node) for node in code.decorators]
    made.is_dataclass = (
        "typing.NamedTuple" in known
        or any(_is_dataclass(decorator) for decorator in decorators)
        or any(isinstance(one, ClassValue) and one.is_dataclass for one in bases)
    )
    frame = ev.frames[-1]
    outer, frame.env = frame.env, env
    try:
        statements.block(ev, code.body)
    finally:
        frame.env = outer
    for node in code.body:
        match node:
            case s.Assign(targets=(s.Name(name=name),), annotation=declared) if declared is not None:
                fields.append(name)
    made.fields = tuple(dict.fromkeys(fields))
    for value in ev.store.owned(env.uid).values():
        if isinstance(value, FunctionValue) and value.owner is None:
            value.owner = made
    for expr, decorator in zip(code.decorators, decorators, strict=True):
        if isinstance(decorator, FunctionValue):
            ev.call_function(decorator, Arguments((made,)), expr.at)
    return made


def _meant(base: Value) -> list[Value]:
    """What a class may inherit from, without what only stands in for something that cannot be imported."""
    found = list(ways(base))
    return [one for guards, one in found if not needs_failed_import(guards)] or [one for _, one in found]


def _is_dataclass(decorator: Value) -> bool:
    return any(
        (isinstance(one, Library) and one.name.endswith("dataclass"))
        or (isinstance(one, Op) and one.name.endswith("dataclass"))
        for one in alternatives(decorator)
    )


def ancestry(cls: ClassValue) -> Iterator[ClassValue]:
    """A class and the program's classes that it inherits from, nearest first."""
    pending, seen = [cls], set()
    while pending:
        one = pending.pop(0)
        if one.uid not in seen:
            seen.add(one.uid)
            yield one
            pending = [base for base in one.bases if isinstance(base, ClassValue)] + pending


def methods(ev: Evaluator, cls: ClassValue) -> list[s.Function]:
    """The code of all methods of a class, the nearest first; what is said of it follows from that."""
    found: list[s.Function] = []
    for one in ancestry(cls):
        own = [node for node in one.code.body if isinstance(node, s.Function)]
        ev.trace.code.update((one.env.path, node.at[0]) for node in own)
        found += own
    return found


def class_attribute(ev: Evaluator, cls: ClassValue, name: str) -> Value | None:
    """What the class or one of its bases holds under a name."""
    for one in ancestry(cls):
        found = ev.store.get((one.env.uid, name))
        if found is not None:
            found = ev.settle(found)
            if isinstance(found, FunctionValue):
                ev.trace.code.add((found.env.path, found.code.at[0]))
            if isinstance(found, FunctionValue) and found.kind == "class":
                return Bound(receiver=cls, name=name, function=found)
            return found
    return None


def object_attribute(ev: Evaluator, value: Object, name: str, at: s.Span) -> Value:
    """An attribute that the object itself does not hold: its class's, or a library's."""
    is_known = value.is_a(OPTIMIZER) and name in ("step", "zero_grad")
    if isinstance(value.definition, ClassValue) and not is_known:
        found = class_attribute(ev, value.definition, name)
        if isinstance(found, FunctionValue):
            return _bound(ev, value, found, at)
        if found is not None:
            return found
    return attributes.object_attribute(ev, value, name, at)


def super_attribute(ev: Evaluator, value: Super, name: str) -> Value:
    """A method of the next class after the one whose code says `super()`."""
    assert value.owner is not None
    for base in value.owner.bases:
        if isinstance(base, ClassValue):
            found = class_attribute(ev, base, name)
            if isinstance(found, FunctionValue):
                return Bound(receiver=value.receiver, name=name, function=found)
            if found is not None:
                return found
    return Bound(receiver=value.receiver, name=f"super.{name}")


def _bound(ev: Evaluator, receiver: Object, function: FunctionValue, at: s.Span) -> Value:
    if function.kind == "property":
        return ev.call_function(function, Arguments((receiver,)), at, receiver)
    if function.kind == "static":
        return function
    return Bound(receiver=receiver, name=function.code.name, function=function)


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
    init = class_attribute(ev, cls, "__init__")
    if isinstance(init, FunctionValue) and raises_at_once(
        init, Arguments((init, *given.args), given.options)
    ):
        ev.emit(Escape, at, values=given.all())
        return ev.unknown(cls.code.name)
    made = ev.object(cls.code.name, cls.library_bases, at, given, cls)
    if cls.has_unknown_base:
        ev.store.set((made.uid, INITIALISED), Constant(value=True))
    if isinstance(init, FunctionValue):
        ev.call_function(init, Arguments((made, *given.args), given.options, given.open), at, made)
    else:
        ev.store.set((made.uid, INITIALISED), Constant(value=True))
        if cls.is_dataclass:
            _fill_fields(ev, made, cls, given, at)
        elif "torch.nn.Sequential" in made.bases:
            containers.fill_container(ev, made, given)
    ev.emit(Built, at, object=made, within=ev.building_in())
    return made


def _parents(given: Arguments) -> Items | None:
    """The tensors of which a small framework's tensor is told, beside its values, that it was made."""
    for one in (*given.args[1:], *given.options.values()):
        if isinstance(one, Items) and any(not isinstance(held, Constant) for held in one.items):
            return one
    return None


def prototype(ev: Evaluator, cls: ClassValue) -> Object | None:
    """An instance of a class that the program never makes, from arguments of which nothing is known."""
    made = instantiate(ev, cls, Arguments(open=True), cls.code.at)
    return made if isinstance(made, Object) else None


def _fill_fields(ev: Evaluator, made: Object, cls: ClassValue, given: Arguments, at: s.Span) -> None:
    for position, name in enumerate(cls.fields):
        value = given.get(position, name)
        if value is None:
            value = class_attribute(ev, cls, name)
            if isinstance(value, Op) and value.name.endswith("field"):
                value = _field_default(ev, value, at)
            elif given.open:
                value = _overridable(ev, value, name)
        ev.store.set((made.uid, name), value or ev.unknown(name))
    after = class_attribute(ev, cls, "__post_init__")
    if isinstance(after, FunctionValue):
        ev.call_function(after, Arguments((made,)), at, made)


def _field_default(ev: Evaluator, field: Op, at: s.Span) -> Value | None:
    if "default" in field.options:
        return field.options["default"]
    ev.spend()
    if "default_factory" in field.options and ev.follows():
        return ev.call(field.options["default_factory"], Arguments(), at, "default_factory(…)")
    return None


def _overridable(ev: Evaluator, default: Value | None, name: str) -> Value:
    """A default that the unseen caller may have replaced."""
    if isinstance(default, Constant):
        return Constant(value=default.value, at=default.at, is_default=True)
    return ev.unknown(name)


def raises_at_once(func: FunctionValue, given: Arguments) -> bool:
    """Whether Python refuses a call: more arguments than parameters, or one of a name that there is not."""
    parameters = func.code.parameters
    if func.code.decorators or any(isinstance(one, Items) and one.kind == "star" for one in given.args):
        return False
    stars = {one.star for one in parameters}
    plain = [one for one in parameters if not one.star and not one.keyword_only]
    has_too_many = "*" not in stars and len(given.args) > len(plain)
    names = {one.name for one in parameters}
    return has_too_many or ("**" not in stars and not names.issuperset(given.options))


def bind_parameters(ev: Evaluator, func: FunctionValue, given: Arguments) -> None:
    """Bind a function's parameters, in the scope that is now current, to what it was given."""
    args = list(given.args)
    options = dict(given.options)
    opened = given.open
    for parameter in func.code.parameters:
        if parameter.star == "*":
            ev.bind(parameter.name, Items(kind="tuple", items=args, exact=not opened))
            args = []
        elif parameter.star == "**":
            ev.bind(parameter.name, Table(entries=dict(options), others=[ev.unknown()] if opened else []))
            options = {}
        else:
            ev.bind(parameter.name, _argument(ev, func, parameter, args, options, opened))


def _argument(
    ev: Evaluator,
    func: FunctionValue,
    parameter: s.Parameter,
    args: list[Value],
    options: dict[str, Value],
    opened: bool,
) -> Value:
    name = parameter.name
    if args and not parameter.keyword_only:
        if isinstance(args[0], Items) and args[0].kind == "star":
            return ev.unknown(name)
        return standing_in.argument(ev, func, name, args.pop(0), func.code.at)
    if name in options:
        return standing_in.argument(ev, func, name, options.pop(name), func.code.at)
    default = func.defaults.get(name)
    if not opened:
        return default if default is not None else ev.unknown(name)
    typed = _declared(ev, func, parameter.annotation) if parameter.annotation is not None else None
    if typed is not None and typed.type != MODULE:
        return typed
    used = (
        standing_in.parameter(ev, func, name, func.code.at) if default is None or typed is not None else None
    )
    return used or typed or _overridable(ev, default, name)


def _declared(ev: Evaluator, func: FunctionValue, annotation: s.Expr) -> Object | None:
    """An instance of the type that a parameter is declared to have, for the types that training is made of."""
    if not isinstance(annotation, (s.Name, s.Attribute)):
        return None
    frame = ev.frames[-1]
    inner, frame.env = frame.env, func.env
    try:
        found = ev.expr(annotation)
    finally:
        frame.env = inner
    if isinstance(found, Library):
        bases = library_bases(canonical(found.name))
        if not bases.isdisjoint(_TYPED):
            return ev.object(canonical(found.name), bases, annotation.at, Arguments(open=True))
    if isinstance(found, ClassValue) and MODULE in found.library_bases:
        return ev.object(found.code.name, found.library_bases, annotation.at, Arguments(open=True), found)
    return None


def note_registration(ev: Evaluator, target: Object, name: str, value: Value, at: s.Span) -> None:
    """A module or parameter is set on a module whose base class has not been initialised yet."""
    if MODULE not in target.bases or not isinstance(target.definition, ClassValue):
        return
    if ev.store.get((target.uid, INITIALISED)) is not None or not is_registered(value):
        return
    if any(map(_is_made_otherwise, ancestry(target.definition))):
        return
    frame = ev.frames[-1]
    if frame.receiver is target and frame.code is not None and frame.code.name == "__init__":
        ev.emit(RegisteredEarly, at, module=target, attribute=name)


def _is_made_otherwise(cls: ClassValue) -> bool:
    """Whether a metaclass has a say in how instances come about: it may well initialise the base class."""
    metaclasses = (base.value for base in cls.code.bases if base.keyword == "metaclass")
    return any(getattr(one, "name", "") != "ABCMeta" for one in metaclasses)


def is_registered(value: Value) -> bool:
    """Whether torch registers a value that is set as an attribute of a module."""
    return (isinstance(value, Object) and MODULE in value.bases) or (
        isinstance(value, Op) and value.name == PARAMETER
    )
