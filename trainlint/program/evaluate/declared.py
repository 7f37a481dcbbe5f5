"""What annotations say: of parameters, names, attributes and results that nothing in sight makes.

`opt: "Optimizer | None"` is an optimizer of which nothing else is known; `loaders: list[DataLoader]` are loaders, in a
number that is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.api.classes import LOADER, MODULE, OPTIMIZER, SCALER, SCHEDULER
from trainlint.facts.api.torch_names import canonical, library_bases
from trainlint.facts.model.values import Choice, Constant, Items, Object, Op, Table, Value
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.standing_in import TYPES, is_unknown, loops_of
from trainlint.program.evaluate.values import Arguments, ClassValue, Env, FunctionValue, Library
from trainlint.program.source import syntax as s
from trainlint.program.source.annotations import written_out

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_TYPED = frozenset((MODULE, OPTIMIZER, SCHEDULER, LOADER, SCALER, "accelerate.Accelerator"))
_BASES: Mapping[str, str] = {
    MODULE: TYPES["module"],
    OPTIMIZER: TYPES["optimizer"],
    SCHEDULER: TYPES["scheduler"],
    "torch.optim.lr_scheduler._LRScheduler": TYPES["scheduler"],
    "torch.nn._Loss": TYPES["loss"],
    "torch.nn._WeightedLoss": TYPES["loss"],
    "transformers.PreTrainedModel": TYPES["module"],
}
"""Classes that no object is of, only of one below them."""

_TRANSPARENT = frozenset("Optional Union Annotated Final ClassVar Required NotRequired ReadOnly".split())
_SEVERAL = frozenset(
    "list List set Set frozenset FrozenSet deque Deque Sequence MutableSequence Iterable Iterator Collection".split()
)
_MAPPINGS = frozenset("dict Dict Mapping MutableMapping OrderedDict DefaultDict defaultdict".split())


class Annotations:
    """The annotations that are written as strings, as expressions; each is read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, s.Span], s.Expr | None] = {}

    def of(self, text: str, at: s.Span) -> s.Expr | None:
        if (text, at) not in self._read:
            self._read[text, at] = written_out(text, at)
        return self._read[text, at]


def parameter(ev: Evaluator, func: FunctionValue, annotation: s.Expr | None) -> Value | None:
    """What a parameter is that nobody hands over; None where its annotation does not say."""
    return _declared(ev, annotation, func.env) if annotation is not None else None


def instead(ev: Evaluator, annotation: s.Expr | None, env: Env, value: Value) -> Value:
    """A value, or what it is declared to be if nothing else is known of it: the same each time that it is asked for."""
    if annotation is None or not is_unknown(value):
        return value
    return _once(ev, (value.uid, "as declared"), annotation, env, value)


def attribute(ev: Evaluator, holder: Value, name: str, value: Value) -> Value:
    """An attribute, or what the class of the object that has it declares, if nothing else is known of it."""
    if not (isinstance(holder, Object) and isinstance(holder.definition, ClassValue)):
        return value
    is_unset = isinstance(value, Op) and value.name == "getattr" and value.inputs == (holder,)
    if not (is_unset or is_unknown(value)):
        return value
    for cls in classes.ancestry(holder.definition):
        for node in cls.code.body:
            match node:
                case s.Assign(targets=(s.Name(name=declared),), annotation=annotation) if (
                    declared == name and annotation is not None
                ):
                    if is_unset:
                        return _once(ev, (holder.uid, f"declared {name}"), annotation, cls.env, value)
                    return instead(ev, annotation, cls.env, value)
    return value


def _once(ev: Evaluator, key: tuple[int, str], annotation: s.Expr, env: Env, value: Value) -> Value:
    """What stands in for a value: the same each time that it is asked for."""
    found = ev.store.get(key)
    if found is None:
        found = _declared(ev, annotation, env)
        if found is None:
            return value
        if isinstance(found, Object):
            found.loops = loops_of(value)
            found.stands_for = value
        ev.store.set(key, found)
    return found


def _declared(ev: Evaluator, annotation: s.Expr, env: Env) -> Value | None:
    with _scope(ev, env):
        return _instance(ev, ev.expr(annotation), annotation.at, limits.ANNOTATION_DEPTH)


@contextmanager
def _scope(ev: Evaluator, env: Env) -> Iterator[None]:
    """Names mean what they mean where the annotation stands."""
    frame = ev.frames[-1]
    inner, frame.env = frame.env, env
    try:
        yield
    finally:
        frame.env = inner


def _instance(ev: Evaluator, declared: Value, at: s.Span, depth: int) -> Value | None:
    """What a value of a declared type is; None where the type says nothing of training."""
    if depth == 0:
        return None

    def inside(one: Value) -> Value | None:
        return _instance(ev, one, at, depth - 1)

    match declared:
        case Library(name=name):
            return _of_library(ev, canonical(name), at)
        case ClassValue():
            if declared.is_dataclass or _is_plain(declared) or not declared.library_bases.isdisjoint(_TYPED):
                return _of_own_class(ev, declared, at)
        case Constant(value=str(text)):
            written = ev.annotations.of(text, at)
            return inside(ev.expr(written)) if written is not None else None
        case Op(name="|", inputs=sides):
            return _only(map(inside, _without_none(sides)))
        case Op(name="getitem", inputs=(Library(name=name),), options={"index": index}):
            return _of_generic(ev, name.rpartition(".")[2], index, at, inside) or inside(declared.inputs[0])
        case Op(name="typing.TypeVar", options={"bound": bound}):
            return inside(bound)
        case Choice(options=options):  # of a class that is imported from one place or the other
            found = [inside(one) for _, one in options]
            return found[0] if all(isinstance(one, Object) for one in found) else None
    return None


def _is_plain(cls: ClassValue) -> bool:
    """Whether all that a class is stands in the program."""
    return not (cls.has_unknown_base or cls.library_bases - {"object"})


def _of_own_class(ev: Evaluator, cls: ClassValue, at: s.Span) -> Object:
    """An instance that code out of sight has made: it has the layers and lists that its constructor gives it."""
    if MODULE in cls.library_bases or _is_plain(cls):
        return classes.given(ev, cls, at)
    made = ev.object(cls.code.name, cls.library_bases, at, Arguments(open=True), cls)
    made.is_given = True
    return made


def _of_library(ev: Evaluator, name: str, at: s.Span) -> Object | None:
    name = _BASES.get(name, name)
    bases = library_bases(name)
    return ev.object(name, bases, at, Arguments(open=True)) if not bases.isdisjoint(_TYPED) else None


def _of_generic(
    ev: Evaluator, name: str, index: Value, at: s.Span, inside: Callable[[Value], Value | None]
) -> Value | None:
    """What `Optional[X]`, `list[X]` or `type[X]` is."""
    arguments = index.items if isinstance(index, Items) else [index]
    if name in _TRANSPARENT:
        return _only(map(inside, _without_none(arguments if name == "Union" else arguments[:1])))
    if name in ("type", "Type"):
        named = arguments[0]
        if isinstance(named, Library):
            named = Library(name=_BASES.get(canonical(named.name), named.name))
        return named if inside(named) is not None else None
    if name in ("tuple", "Tuple"):
        parts = [inside(one) for one in arguments]
        if not any(parts):
            return None
        held = [one if one is not None else ev.unknown() for one in parts]
        is_exact = not any(isinstance(one, Constant) and one.value is ... for one in arguments)
        return Items(kind="tuple", items=held if is_exact else held[:1], exact=is_exact)
    held_one = inside(arguments[-1]) if name in (_SEVERAL | _MAPPINGS) else None
    if held_one is None:
        return None
    return Table(others=[held_one]) if name in _MAPPINGS else Items(items=[held_one], exact=False)


def _without_none(types: Sequence[Value]) -> list[Value]:
    return [one for one in types if not (isinstance(one, Constant) and one.value in (None, "None"))]


def _only(found: Iterator[Value | None]) -> Value | None:
    """What there is, if there is one alone: a choice between types says too little."""
    first, *others = [*found] or [None]
    return first if not others else None
