"""Which entry points can have anything to do with training, judged by the names in their code alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.torch_api import DROPOUTS, LOSS_FUNCTIONS, LOSSES, WITH_PARAMETERS
from trainlint.program import syntax as s

TRAINING_WORDS = (
    frozenset(
        (
            "backward zero_grad manual_backward training_step compute_loss clip_grad_norm_ clip_grad_value_ DataLoader "
            "autocast GradScaler custom_fwd custom_bwd forward load_state_dict scaled_dot_product_attention"
        ).split()
    )
    | {name.rpartition(".")[2] for name in LOSSES}
    | LOSS_FUNCTIONS.keys()
)
"""Names without which an entry point says nothing about training that a rule could judge."""

_EVERYWHERE = frozenset("forward __init__ eval get update append extend items to add".split())
"""Names that too many things share to follow them."""


class Relevance:
    """Follows calls by name through all functions of a program."""

    def __init__(self, modules: Iterable[s.Module]) -> None:
        self._by_name: dict[str, list[s.Function]] = {}
        for module in modules:
            for function in _functions(module.body):
                self._by_name.setdefault(function.name, []).append(function)
        self._known: dict[int, bool] = {}

    def trains(self, function: s.Function) -> bool:
        """Whether a function uses a word of training or evaluation, or one that it may call does of training."""
        return "eval" in function.names or self._trains(function)

    def _trains(self, function: s.Function) -> bool:
        known = self._known.get(id(function))
        if known is None:
            self._known[id(function)] = False  # while it is being looked at: a cycle adds nothing
            known = not TRAINING_WORDS.isdisjoint(function.names) or _may_mislead(function) or any(
                self._trains(callee)
                for name in function.names - _EVERYWHERE
                for callee in self._by_name.get(name, ())
                if callee is not function
            )
            self._known[id(function)] = known
        return known


def _may_mislead(function: s.Function) -> bool:
    """Whether a function drops by a function of torch's, or is a forward that may make layers."""
    names = function.names
    if function.name == "forward" and not WITH_PARAMETERS.isdisjoint(names):
        return True
    return not names.isdisjoint(DROPOUTS) and not names.isdisjoint(("F", "functional"))


def needs_instance(code: s.Class) -> bool:
    """Whether a module class that nothing makes may still hold something to say.

    Unregistered layers, no `super()`, a layer that stands for several.
    """
    init = next((one for one in code.body if isinstance(one, s.Function) and one.name == "__init__"), None)
    return init is not None and (_sets_early(init) or any(_holds_collection(one) for one in init.body))


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
    """Whether an expression multiplies a list."""
    match value:
        case s.Operation(operator="*", operands=(s.Collection(), _) | (_, s.Collection())):
            return True
        case s.Operation():
            return depth < 4 and any(_multiplies(one, depth + 1) for one in value.operands)
        case s.Call():
            return depth < 4 and any(_multiplies(one.value, depth + 1) for one in value.args)
    return False


def _functions(block: s.Block) -> Iterator[s.Function]:
    for node in block:
        if isinstance(node, s.Function):
            yield node
        elif isinstance(node, s.Class):
            yield from _functions(node.body)
        elif isinstance(node, (s.If, s.For, s.While)):
            yield from _functions(node.body)
            yield from _functions(node.orelse)
