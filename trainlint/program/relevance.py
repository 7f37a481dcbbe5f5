"""Which entry points can have anything to do with training, judged by the names in their code alone."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.torch_api import LOSS_FUNCTIONS, LOSSES
from trainlint.program import syntax as s
from trainlint.program.outline import Outline

TRAINING_WORDS = (
    frozenset(
        (
            "backward zero_grad manual_backward training_step compute_loss clip_grad_norm_ clip_grad_value_ DataLoader "
            "autocast GradScaler custom_fwd custom_bwd"
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

    def __init__(self, outlines: Iterable[Outline]) -> None:
        functions = [one for outline in outlines for one in outline.functions]
        known = {name for name, _, _ in functions} - _EVERYWHERE
        mentioned_in: dict[str, list[str]] = {}
        for name, _, names in functions:
            for one in names & known:
                mentioned_in.setdefault(one, []).append(name)
        pending = [name for name, _, names in functions if not TRAINING_WORDS.isdisjoint(names)]
        self._trains: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in self._trains:
                self._trains.add(name)
                pending.extend(mentioned_in.get(name, ()))
        self._trains -= _EVERYWHERE

    def trains(self, names: frozenset[str]) -> bool:
        """Whether a function with these names in it speaks of training or evaluation, or may call one that trains."""
        return "eval" in names or not TRAINING_WORDS.isdisjoint(names) or not self._trains.isdisjoint(names)


def needs_instance(code: s.Class) -> bool:
    """Whether a module class that nothing makes may still hold something to say: unregistered layers, no `super()`."""
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
        case s.If() | s.For() | s.While():
            return any(_holds_collection(one) for one in (*node.body, *node.orelse))
    return False
