"""Libraries that own a part of the training loop: who zeroes, who steps, who runs backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import frameworks as owners
from trainlint.facts.api.classes import MODULE, OPTIMIZER, SCHEDULER
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.frameworks import Gathered, Prepared, Sharded
from trainlint.facts.model.events.modules import Built, ModeChange, Wrapped
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.values import Constant, Items, Named, Object, Op, Value, alternatives
from trainlint.program.api import trainers
from trainlint.program.evaluate import attributes, keys
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_SOME_SCHEDULER = "torch.optim.lr_scheduler.?"


def call_name(ev: Evaluator, name: str, given: Arguments, at: s.Span) -> Value | None:
    """A framework's constructor or function; None if the name is no framework's."""
    if name in owners.HELPER_NAMES:
        kind = owners.HELPER_NAMES[name]
        return ev.object(kind, frozenset((kind, owners.ACCELERATOR)), at, given)
    if name in owners.SHARDS:
        return _sharded(ev, name, given, at)
    if (trainer := trainers.made(ev, name, given, at)) is not None:
        return trainer
    if name in owners.ADAPTS:
        return _adapted(ev, given, at)
    if name == "accelerate.skip_first_batches" and given.args:
        return given.args[0]
    if name == "deepspeed.initialize":
        model = given.get(1, "model") or ev.unknown("model")
        bases = frozenset((owners.ENGINE, MODULE, OPTIMIZER))
        engine = ev.object(owners.ENGINE, bases, at, Arguments((model,)))
        return Items(kind="tuple", items=[engine, engine, ev.unknown("loader"), ev.unknown("scheduler")])
    return None


def _sharded(ev: Evaluator, name: str, given: Arguments, at: s.Span) -> Value | None:
    """`fully_shard(model)`, or `FSDP(model)`: the module, with its parameters shared out."""
    module = given.get(0, "module")
    if module is None:
        return None
    rule = owners.SHARDS[name]
    replaces: bool | None = True
    if rule is not None:
        asked = given.options.get(rule[0]) or Constant(value=rule[1])
        known = isinstance(asked, Constant) and not asked.is_default
        replaces = not asked.value if known and isinstance(asked, Constant) and not given.open else None
    strategy = given.options.get("sharding_strategy")
    shards = not given.open and (
        strategy is None or (isinstance(strategy, Named) and "NO_SHARD" not in strategy.name)
    )
    ev.emit(Wrapped, at, module=module, name=name)
    ev.emit(Sharded, at, module=module, name=name, replaces=replaces, flat=rule is not None, shards=shards)
    return module  # type: ignore[no-any-return]


def _adapted(ev: Evaluator, given: Arguments, at: s.Span) -> Value | None:
    """`get_peft_model(model, config)`, of a library's model: it answers as that does, with other parameters to train."""
    model = given.get(0, "model")
    if not isinstance(model, Object) or not model.is_a(MODULE) or model.definition is not None:
        return None
    ev.emit(Escape, at, values=given.all())
    made = ev.object(model.type, model.bases | {owners.ADAPTED}, at, given)
    ev.emit(Built, at, object=made, **ev.building())
    return made


def regions_in(context: Value) -> tuple[Value, ...]:
    """The regions of a framework that `with context` begins, or may begin."""
    return tuple(
        one
        for one in alternatives(context)
        if isinstance(one, Op)
        and one.owner is not None
        and one.owner.type in owners.HELPERS
        and one.name.rpartition(".")[2] in owners.REGIONS
    )


def call_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> Value | None:
    """A method of a framework's object; None if it is not one that matters."""
    if value.is_a(owners.ACCELERATOR):
        return _helper(ev, value, name, given, at)
    if value.is_a(owners.ENGINE):
        if name == "backward" and (loss := given.first("loss")) is not None:
            ev.emit(Backward, at, loss=loss, by_framework=True, by=value)
            return loss
        if name == "step":
            ev.emit(OptimizerStep, at, optimizer=value)
            ev.emit(ZeroGrad, at, target=value)
            return Constant(value=None)
    trainers.trained(ev, value, name, given, at)
    if value.is_a(owners.LIGHTNING):
        return _lightning(ev, value, name, given, at)
    return None


def _lightning(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> Value | None:
    if name == "manual_backward" and (loss := given.first("loss")) is not None:
        retains = given.options.get("retain_graph")
        ev.emit(Backward, at, loss=loss, by_framework=True, by=value, retains=retains)
        return Constant(value=None)
    if name == "optimizers":
        return _own(ev, value, keys.OPTIMIZERS, "torch.optim.?", OPTIMIZER, at)
    if name == "lr_schedulers":
        return _own(ev, value, keys.SCHEDULES, _SOME_SCHEDULER, SCHEDULER, at)
    if name in ("freeze", "unfreeze"):
        is_on = name == "unfreeze"
        attributes.set_requires_grad(ev, value, Constant(value=is_on), at)
        ev.emit(ModeChange, at, module=value, training=is_on)
        return Constant(value=None)
    if name == "clip_gradients":
        by = given.get(0, "optimizer")
        ev.emit(Clip, at, parameters=value, optimizer=by if isinstance(by, Object) else None)
        return Constant(value=None)
    return None


def _own(ev: Evaluator, value: Object, kept: str, kind: str, base: str, at: s.Span) -> Value:
    """What a module's framework keeps for it, the same each time."""
    key = (value.uid, kept)
    found = ev.store.get(key)
    if found is None:
        found = Object(type=kind, bases=frozenset((base,)), at=ev.place(at), args=(value,))
        ev.store.set(key, found)
    return found


def _helper(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> Value | None:
    first = given.first(*owners.FIRST)
    if name in owners.PREPARES:
        return _prepared(ev, value, name, given, at)
    if name == "backward" and first is not None:
        ev.emit(Backward, at, loss=first, by_framework=True, by=value)
        return Constant(value=None)
    if name in ("clip_grad_norm_", "clip_grad_value_", "clip_gradients") and first is not None:
        by = given.get(1, "optimizer") if name == "clip_gradients" else None
        ev.emit(Clip, at, parameters=first, optimizer=by if isinstance(by, Object) else None)
    if name in owners.GATHERS and first is not None:
        return _gathered(ev, value, name, first, at)
    if name in ("unwrap_model", "reduce", "pad_across_processes"):
        return first
    if name == "free_memory":
        return Items(kind="tuple", items=list(given.args))
    owner = value if name in owners.REGIONS else None
    return ev.op(f"{owners.ACCELERATOR}.{name}", given.args, at, name, given.options, owner=owner)


def _prepared(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> Value | None:
    named = [given.options[one] for one in owners.PREPARED if one in given.options]
    handed = [*given.args, *named]
    for one in handed:
        ev.emit(Wrapped, at, module=one, name=f"{owners.ACCELERATOR}.{name}")
        ev.emit(Prepared, at, by=value, what=one, is_open=given.open)
    if given.open:
        ev.emit(Prepared, at, by=value, what=ev.unknown(), is_open=True)
    if len(handed) > 1:
        return Items(kind="tuple", items=handed)
    return handed[0] if handed else None


def _gathered(ev: Evaluator, value: Object, name: str, what: Value, at: s.Span) -> Value:
    """The same tensors, of all ranks: each a value of its own, so that what is cut off them later can be told."""
    if isinstance(what, Items) and what.exact:
        output: Value = Items(
            kind=what.kind, items=[ev.op("gather", (one,), at, f"{name}(…)") for one in what.items]
        )
    elif isinstance(what, (Op, Object)):
        output = ev.op("gather", (what,), at, f"{name}(…)")
    else:
        output = what
    ev.emit(Gathered, at, by=value, what=what, output=output, padded=name == owners.PADS)
    return output
