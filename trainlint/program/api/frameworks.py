"""Libraries that own a part of the training loop: who zeroes, who steps, who runs backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import torch_api as api
from trainlint.facts.model.events import Backward, Clip, OptimizerStep, Wrapped, ZeroGrad
from trainlint.facts.model.values import Constant, Items, Object, Value
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

ACCELERATOR = "accelerate.Accelerator"
FABRIC = frozenset(
    (
        "lightning.Fabric",
        "lightning.fabric.Fabric",
        "lightning_fabric.Fabric",
        "pytorch_lightning.lite.LightningLite",
    )
)
ENGINE = "deepspeed.DeepSpeedEngine"
LIGHTNING = "lightning.LightningModule"


def call_name(ev: Evaluator, name: str, given: Arguments, at: s.Span) -> Value | None:
    """A framework's constructor; None if the name is no framework's."""
    if name in (ACCELERATOR, "accelerate.accelerator.Accelerator"):
        return ev.object(ACCELERATOR, frozenset((ACCELERATOR,)), at, given)
    if name in FABRIC:
        return ev.object(ACCELERATOR, frozenset((ACCELERATOR,)), at, given)
    if name == "deepspeed.initialize":
        model = given.get(1, "model") or ev.unknown("model")
        engine = ev.object(ENGINE, frozenset((ENGINE, api.MODULE, api.OPTIMIZER)), at, Arguments((model,)))
        return Items(kind="tuple", items=[engine, engine, ev.unknown("loader"), ev.unknown("scheduler")])
    return None


def call_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> Value | None:
    """A method of a framework's object; None if it is not one that matters."""
    first = given.args[0] if given.args else None
    if value.is_a(ACCELERATOR):
        return _accelerator(ev, value, name, given, at)
    if value.is_a(ENGINE):
        if name == "backward" and first is not None:
            ev.emit(Backward, at, loss=first, by_framework=True)
            return first
        if name == "step":
            ev.emit(OptimizerStep, at, optimizer=value)
            ev.emit(ZeroGrad, at, target=value)
            return Constant(value=None)
    if value.is_a(LIGHTNING):
        if name == "manual_backward" and first is not None:
            ev.emit(Backward, at, loss=first, by_framework=True)
            return Constant(value=None)
        if name == "optimizers":
            key = (value.uid, "the framework's optimizers")
            found = ev.store.get(key)
            if found is None:
                found = Object(
                    type="torch.optim.?", bases=frozenset((api.OPTIMIZER,)), at=ev.place(at), args=(value,)
                )
                ev.store.set(key, found)
            return found
        if name == "clip_gradients":
            ev.emit(Clip, at, parameters=value)
            return Constant(value=None)
    return None


def _accelerator(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> Value | None:
    first = given.args[0] if given.args else None
    if name in (
        "prepare",
        "setup",
        "setup_dataloaders",
        "prepare_model",
        "prepare_optimizer",
        "prepare_data_loader",
    ):
        for one in given.args:
            ev.emit(Wrapped, at, module=one, name=f"{ACCELERATOR}.{name}")
        return Items(kind="tuple", items=list(given.args)) if len(given.args) > 1 else first
    if name == "backward" and first is not None:
        ev.emit(Backward, at, loss=first, by_framework=True)
        return Constant(value=None)
    if name in ("clip_grad_norm_", "clip_grad_value_", "clip_gradients") and first is not None:
        ev.emit(Clip, at, parameters=first)
    if name in ("unwrap_model", "gather", "gather_for_metrics", "reduce", "pad_across_processes"):
        return first
    if name == "free_memory":
        return Items(kind="tuple", items=list(given.args))
    return ev.op(f"{ACCELERATOR}.{name}", given.args, at, name, given.options)
