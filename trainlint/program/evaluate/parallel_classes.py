"""Classes of a program over `DataParallel` that change how batches are scattered and gathered, and nothing else."""

from __future__ import annotations

from trainlint.facts.api.wrappers import PREFIXES
from trainlint.program.evaluate.values import ClassValue, Library
from trainlint.program.source import syntax as s
from trainlint.program.source.shape import says_nothing

_BETWEEN_DEVICES = frozenset(("__getattr__", "gather", "replicate", "scatter"))
_WRAPPED = frozenset(("module", "model"))


def wrapper_of(cls: ClassValue) -> Library | None:
    """The wrapper of torch's that a class is, as far as training goes: it stands for the module that it is given."""
    match cls.bases:
        case (Library(name=name) as wrapper,) if name in PREFIXES and all(map(_is_plumbing, cls.code.body)):
            return wrapper
    return None


def _is_plumbing(node: s.Statement) -> bool:
    match node:
        case s.Function(name="__init__", parameters=(_, first, *_), body=body):
            return first.name in _WRAPPED and all(map(_only_begins, body))
        case s.Function(name=name):
            return name in _BETWEEN_DEVICES
    return says_nothing(node)


def _only_begins(node: s.Statement) -> bool:
    """`super().__init__(module, ...)`."""
    match node:
        case s.Evaluate(value=s.Call(func=s.Attribute(name="__init__"))):
            return True
    return says_nothing(node)
