"""Parameters that nobody hands over, and that are called like a model that their file has or imports: `def update(critic, batch)`
below `class Critic`, `netD` beside a `Discriminator`, or `model` where the file has one model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.losses import is_named_loss
from trainlint.facts.model.values import Object, Value
from trainlint.program.evaluate import classes, names
from trainlint.program.evaluate.values import ClassValue, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_ANY = ("model", "net", "network")

_SHORT = {
    "d": "discriminator",
    "disc": "discriminator",
    "g": "generator",
    "gen": "generator",
    "enc": "encoder",
    "dec": "decoder",
}
"""What is left of the names of parts of a model, as in `netD`, `D` and `disc`, and the classes that are meant."""

_OF_MODULES = frozenset(
    "train eval parameters named_parameters state_dict load_state_dict zero_grad requires_grad_ modules children to "
    "named_modules cuda cpu half float bfloat16 training apply named_children module compile".split()
)
"""What all modules have."""


def parameter(ev: Evaluator, func: FunctionValue, name: str) -> Object | None:
    """The model that a parameter is called like, where the function calls it and uses nothing that it lacks."""
    cls = _class(ev, func, name) if func.owner is None else None
    if cls is None or not _calls_fit(ev, cls, func.code, name):
        return None
    made = classes.given(ev, cls, func.code.at)
    if any(not _has(ev, made, cls, one) for one in _attributes(func.code, name)):
        return None
    made.told_by = f"nobody in sight calls `{func.code.name}`: that `{name}` is a `{cls.code.name}` follows from the names"
    return made


def _class(ev: Evaluator, func: FunctionValue, name: str) -> ClassValue | None:
    ev.trace.uses.add(func.env.path)
    bound = ev.store.owned(ev.module(func.env.path).uid)
    called = _called(name)
    named = [one for key, value in [*bound.items()] if key.lower() in called and (one := _model(ev, value))]
    if named:
        return named[0] if len(named) == 1 else None
    if name not in _ANY:
        return None
    own = [one for value in bound.values() if isinstance(value, ClassValue) and (one := _model(ev, value))]
    parts = {part for one in own for part in _parts(ev, one)}
    whole = [one for one in own if one.code.name not in parts]
    is_sure = (
        len(whole) == 1
        and whole[0].env.path == func.env.path
        and (_is_whole(whole[0]) or _uses_its_own(ev, whole[0], func.code, name))
    )
    return whole[0] if is_sure else None


def _model(ev: Evaluator, value: Value) -> ClassValue | None:
    """The class of a model that a name of a file means, imported or not; None for all else."""
    found = names.settle(ev, value)
    is_model = (
        isinstance(found, ClassValue)
        and MODULE in found.library_bases
        and not is_named_loss("forward", found.code.name)
        and not found.has_unknown_base
    )
    return found if is_model and isinstance(found, ClassValue) else None


def _called(name: str) -> frozenset[str]:
    """How classes are called, in small letters, that a parameter of this name may hold an instance of."""
    flat = name.replace("_", "").lower()
    stem = flat.removeprefix("net").removesuffix("net").removesuffix("model")
    return frozenset((flat, stem or flat, _SHORT.get(stem, flat)))


def _is_whole(cls: ClassValue) -> bool:
    """Whether a class makes several layers or other parts: with one of them, it may itself be a layer."""
    made = [
        one
        for one in walk(cls.code.body)
        if isinstance(one, s.Call)
        and isinstance(one.func, (s.Attribute, s.Name))
        and one.func.name[:1].isupper()
    ]
    return len(made) > 1


def _uses_its_own(ev: Evaluator, cls: ClassValue, code: s.Function, name: str) -> bool:
    """Whether a function calls a method of the parameter that only this class has, as `model.update_target(step)`."""
    return any(
        one not in _OF_MODULES and isinstance(classes.class_attribute(ev, cls, one), FunctionValue)
        for one in _attributes(code, name)
    )


def _parts(ev: Evaluator, cls: ClassValue) -> set[str]:
    """The names in a class, of what it may be made of, and of the classes that it inherits from."""
    names = {one.code.name for one in classes.ancestry(cls) if one is not cls}
    return names.union(*(one.names for one in classes.own_methods(ev, cls)))


def _calls_fit(ev: Evaluator, cls: ClassValue, code: s.Function, name: str) -> bool:
    """Whether the function calls the parameter with what the class takes, or hands it on."""
    forward = classes.class_attribute(ev, cls, "forward")
    every = [one for one in walk(code.body) if isinstance(one, s.Call)]
    calls = [one for one in every if _is(one.func, name)]
    is_used = calls or any(_is(given.value, name) for one in every for given in one.args)
    if not isinstance(forward, FunctionValue) or not is_used:
        return False
    return all(_fits(call.args, forward.origin.code.parameters[1:]) for call in calls)


def _fits(given: tuple[s.Argument, ...], parameters: tuple[s.Parameter, ...]) -> bool:
    plain = [one for one in parameters if not one.star]
    names = {one.name for one in plain}
    if any(one.keyword is not None and one.keyword not in names for one in given):
        return any(one.star == "**" for one in parameters)
    positional = [one for one in given if one.keyword is None and not one.star]
    needed = [one for one in plain if one.default is None]
    is_open = any(one.star for one in given)
    is_enough = is_open or len(given) >= len(needed)
    return is_enough and (len(positional) <= len(plain) or any(one.star == "*" for one in parameters))


def _attributes(code: s.Function, name: str) -> set[str]:
    return {one.name for one in walk(code.body) if isinstance(one, s.Attribute) and _is(one.value, name)}


def _is(node: s.Expr, name: str) -> bool:
    return isinstance(node, s.Name) and node.name == name


def _has(ev: Evaluator, made: Object, cls: ClassValue, name: str) -> bool:
    return (
        name in _OF_MODULES
        or classes.class_attribute(ev, cls, name) is not None
        or ev.store.get((made.uid, name)) is not None
    )
