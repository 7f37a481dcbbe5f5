"""Which entry points can have anything to do with training, judged by the names in their code alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainlint import words
from trainlint.facts.api.attention import FUSED
from trainlint.facts.api.deprecated import OLD_INITS
from trainlint.facts.api.frameworks import OWNED, TRAINER_WORDS
from trainlint.facts.api.layers import DROPOUTS, WITH_PARAMETERS
from trainlint.facts.api.losses import LOSS_FUNCTIONS, LOSSES
from trainlint.program.source import syntax as s
from trainlint.program.source.outline import Outline

TRAINING_WORDS = (
    frozenset(
        (
            "backward zero_grad manual_backward training_step compute_loss clip_grad_norm_ clip_grad_value_ DataLoader "
            "autocast GradScaler custom_fwd custom_bwd DataCollatorForLanguageModeling"
        ).split()
    )
    | {name.rpartition(".")[2] for name in LOSSES}
    | LOSS_FUNCTIONS
    | TRAINER_WORDS
)
"""Names without which an entry point says nothing about training that a rule could judge."""

_STEPS = frozenset(("backward", "zero_grad"))
"""Names in what an instance does when it is called, with which those train that make one and call it."""

_HERE_ALONE = frozenset("eval forward load_state_dict bmm".split())
"""Names that say something of the function that they stand in, and nothing of those that call it; so do the words that
rules declare."""

_LOADS = "load_state_dict"
"""What prepares a model: whoever calls the function that does it may use the model then."""

_EVERYWHERE = frozenset("forward __init__ eval get update append extend items to add".split())
"""Names that too many things share to follow them."""

_TO_HOST = frozenset(("numpy", "tolist", "item"))
"""What reads the numbers of a tensor: in the forward of a model, whoever calls that."""

_FOLLOWED_NEARBY = frozenset("get update append extend items add".split())
"""Of these, the ones that are followed in files that define or import a function of this name that trains."""


class Relevance:
    """Follows calls by name through all functions of a program."""

    def __init__(self, outlines: Mapping[str, Outline]) -> None:
        functions = [one for outline in outlines.values() for one in outline.functions]
        callables = [one for outline in outlines.values() for one in outline.callables]
        known = {one.name for one in functions} - _EVERYWHERE
        known |= {name for name, _ in callables}
        mentioned_in: dict[str, list[str]] = {}
        for each in functions:
            for one in each.calls & known:
                mentioned_in.setdefault(one, []).append(each.name)
        training = [
            one.name for one in functions if not TRAINING_WORDS.isdisjoint(one.calls) or _drops(one.names)
        ]
        training += [name for name, names in callables if not _STEPS.isdisjoint(names)]
        self._nearby = _nearby(outlines)
        for path, close in self._nearby.items():
            training += [one.name for one in outlines[path].functions if not close.isdisjoint(one.calls)]
        self._reading = {
            path: frozenset(one.name for one in outline.functions if not _TO_HOST.isdisjoint(one.names))
            for path, outline in outlines.items()
        }
        self._making = {
            path: frozenset(
                one.name for one in outline.functions if not WITH_PARAMETERS.isdisjoint(one.names)
            )
            for path, outline in outlines.items()
        }
        self._trains = _callers(training, mentioned_in)
        self._loads = _callers((one.name for one in functions if _LOADS in one.names), mentioned_in)
        self._calls = {
            (path, one.at): one.calls for path, outline in outlines.items() for one in outline.functions
        }

    def trains(self, code: tuple[str, int], name: str, names: frozenset[str]) -> bool:
        """Whether a function of this place and name, with these names in it, speaks of training or evaluation, or may call
        one that trains, or may use a model that one loads; or is a forward that may read numbers, or make layers by a
        function of its file."""
        path, calls = code[0], self._calls.get(code, names)
        if _speaks(name, names) or not self._trains.isdisjoint(calls):
            return True
        if s.HANDS_OUT not in names and not self._loads.isdisjoint(calls):
            return True
        if name == "forward" and not (
            names.isdisjoint(_TO_HOST)
            and names.isdisjoint(self._reading.get(path, ()))
            and names.isdisjoint(self._making.get(path, ()))
        ):
            return True
        return not self._nearby.get(path, frozenset()).isdisjoint(names)


def _callers(functions: Iterable[str], mentioned_in: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """These functions, and all that may call them, directly or not, without names that too many things share."""
    found: set[str] = set()
    pending = list(functions)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(mentioned_in.get(name, ()))
    return frozenset(found - _EVERYWHERE)


def _nearby(outlines: Mapping[str, Outline]) -> dict[str, frozenset[str]]:
    """By file, the names of functions that train and are known to it, where elsewhere too many things share them."""
    own = {
        path: frozenset(
            one.name
            for one in outline.functions
            if one.name in _FOLLOWED_NEARBY and not TRAINING_WORDS.isdisjoint(one.calls)
        )
        for path, outline in outlines.items()
    }
    known: frozenset[str] = frozenset().union(*own.values())
    found = {path: own[path] | (known & outline.binds) for path, outline in outlines.items()} if known else {}
    return {path: names for path, names in found.items() if names}


def _speaks(name: str, names: frozenset[str]) -> bool:
    """Whether a function uses a word of training, drops or initialises by a function of torch's, is a forward
    that may make layers, or is a method that a framework calls."""
    if name in OWNED or not (names.isdisjoint(TRAINING_WORDS) and names.isdisjoint(_HERE_ALONE)):
        return True
    if name == "forward" and not WITH_PARAMETERS.isdisjoint(names):
        return True
    if s.DISCARDS in names or any(map(words.is_declared, names)):
        return True
    if "init" in names and not names.isdisjoint(OLD_INITS):
        return True
    return _drops(names)


def _drops(names: frozenset[str]) -> bool:
    """Whether a function calls a dropout of `torch.nn.functional`, or a fused attention: only the forward that calls it says
    whose mode counts."""
    if not names.isdisjoint(FUSED):
        return True
    return not names.isdisjoint(DROPOUTS) and not names.isdisjoint(("F", "functional"))


def needs_instance(code: s.Class) -> bool:
    """Whether a module class that nothing makes may still hold something to say.

    Unregistered layers and parameters, no `super()`, a layer that stands for several, one that no other method names.
    """
    init = next((one for one in code.body if isinstance(one, s.Function) and one.name == "__init__"), None)
    return init is not None and (
        _sets_early(init)
        or _holds_local(init)
        or any(_holds_collection(one) or _holds_derived(one) for one in init.body)
        or _leaves_a_layer(code, init)
    )


def _leaves_a_layer(code: s.Class, init: s.Function) -> bool:
    """Whether an attribute becomes a layer that no other method of the class names."""
    others = [one.names for one in code.body if isinstance(one, s.Function) and one is not init]
    return bool(others) and any(not any(name in names for names in others) for name in _layers_set(init.body))


def _layers_set(body: Iterable[s.Statement]) -> Iterator[str]:
    """The attributes that become what a class makes, in a constructor."""
    for node in body:
        match node:
            case s.Assign(
                targets=(s.Attribute(name=name),),
                value=s.Call(func=s.Attribute(name=made) | s.Name(name=made)),
            ):
                if made[:1].isupper():
                    yield name
            case s.If():
                yield from _layers_set((*node.body, *node.orelse))


def _holds_derived(node: s.Statement) -> bool:
    """Whether an attribute becomes what a method or an operation makes of a new parameter."""
    match node:
        case s.Assign(targets=(s.Attribute(), *_), value=s.Call(func=s.Attribute(value=made))):
            return _is_parameter(made)
        case s.Assign(targets=(s.Attribute(), *_), value=s.Operation(operands=operands)):
            return any(map(_is_parameter, operands))
    return False


def _is_parameter(node: s.Expr) -> bool:
    match node:
        case s.Call(func=s.Attribute(name="Parameter") | s.Name(name="Parameter")):
            return True
    return False


def _holds_local(init: s.Function) -> bool:
    """Whether an attribute becomes a list or dict that a name has held before."""
    lists: set[str] = set()
    for node in init.body:
        match node:
            case s.Assign(
                targets=(s.Name(name=name),), value=s.Collection() | s.Mapping() | s.Comprehension()
            ):
                lists.add(name)
            case s.Assign(targets=(s.Attribute(), *_), value=s.Name(name=name)) if name in lists:
                return True
    return False


def _sets_early(init: s.Function) -> bool:
    """Whether an attribute is set before the base class is initialised."""
    for node in init.body:
        match node:
            case s.Evaluate(value=s.Call(func=s.Attribute(name="__init__"))):
                return False
            case s.Assign(targets=(s.Attribute(), *_)):
                return True
    return True


def _holds_collection(node: s.Statement) -> bool:
    match node:
        case s.Assign(targets=(s.Attribute(), *_), value=s.Collection() | s.Mapping() | s.Comprehension()):
            return True
        case s.Assign(targets=(s.Attribute(), *_), value=s.Call(func=s.Name(name="list" | "dict" | "tuple"))):
            return True
        case s.Assign(value=s.Call() | s.Operation() as value) if _multiplies(value):
            return True
        case s.If() | s.For() | s.While():
            return any(_holds_collection(one) for one in (*node.body, *node.orelse))
    return False


def _multiplies(value: s.Expr, depth: int = 0) -> bool:
    """Whether an expression multiplies a list, or repeats one thing in it."""
    match value:
        case s.Comprehension(element=s.Name(name=repeated), loops=((target, _, _), *_)):
            return not _binds(target, repeated)
        case s.Operation(operator="*", operands=(s.Collection(), _) | (_, s.Collection())):
            return True
        case s.Call(func=s.Name(name="repeat") | s.Attribute(value=s.Name(name="itertools"), name="repeat")):
            return True
        case s.Operation():
            return depth < 4 and any(_multiplies(one, depth + 1) for one in value.operands)
        case s.Call():
            return depth < 4 and any(_multiplies(one.value, depth + 1) for one in value.args)
    return False


def _binds(target: s.Expr, name: str) -> bool:
    match target:
        case s.Name():
            return target.name == name
        case s.Collection():
            return any(_binds(one, name) for one in target.items)
    return False
