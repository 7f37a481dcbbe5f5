"""Whether code takes the part of one worker process: it asks which worker it is, and not only to say so or to seed by it."""

from __future__ import annotations

from typing import Any

from trainlint.program.source import syntax as s
from trainlint.program.source.spelling import spelled
from trainlint.program.source.walking import walk

_WORKER = frozenset(("get_worker_info", "worker_info", "num_workers", "worker_id", "WorkerInfo"))
_ASKS = "get_worker_info"
_SAYS = frozenset("print info debug warning warn error log write".split())
_SEEDS = frozenset("seed manual_seed Random default_rng RandomState seed_everything set_seed".split())


def takes_part(code: s.Function) -> bool:
    """Whether what a function does depends on which worker runs it, as far as its names tell."""
    if _WORKER.isdisjoint(code.names):
        return False
    known = set(_WORKER)
    for node in walk(code.body):
        match node:
            case s.Assign(targets=(s.Name(name=name),), value=s.Call(func=func)) if _last(func) == _ASKS:
                known.add(name)
    return any(
        isinstance(one, (s.Name, s.Attribute)) and one.name in known
        for one in walk(code.body, leaves_out=_is_beside)
    )


def _is_beside(node: Any) -> bool:
    """Whether code only says something, seeds, or asks for the worker, and whether there is one."""
    match node:
        case s.Assign(targets=(s.Name(name=name),), value=value):
            return "seed" in name.lower() or (isinstance(value, s.Call) and _last(value.func) == _ASKS)
        case s.Operation(operator="is" | "is not"):
            return True
        case s.Call(func=func):
            return _last(func) in _SEEDS | _SAYS
        case s.If(body=body, orelse=()):
            return all(isinstance(one, s.Evaluate) and _is_beside(one.value) for one in body)
    return False


def _last(func: s.Expr) -> str:
    return (spelled(func) or "").rpartition(".")[2]
