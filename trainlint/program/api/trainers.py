"""Classes of frameworks that train what they are given: the methods of the program that they call, and in which loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import frameworks as owners
from trainlint.facts.api.torch_names import shifts_labels
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.frameworks import Formatted
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value, alternatives
from trainlint.program.api import elements, subscripts
from trainlint.program.evaluate import classes, keys, loops, owned_methods
from trainlint.program.evaluate.values import Arguments, Bound, ClassValue, FunctionValue, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_GIVEN = ("input_ids", "attention_mask", "labels")


_COUNTS = "num_items_in_batch"
"""What a trainer passes to `compute_loss` since transformers 4.46."""


def made(ev: Evaluator, name: str, given: Arguments, at: s.Span) -> Object | None:
    """A trainer; None if the name is no trainer's."""
    if name in owners.TRAINERS:
        kind, bases = name, frozenset((name, owners.TRAINER))
    elif name in owners.RUNNERS:
        kind, bases = owners.RUNNER, frozenset((owners.RUNNER,))
    else:
        return None
    ev.emit(Escape, at, values=given.all())
    trainer = ev.object(kind, bases, at, given)
    function = given.options.get(owners.FORMATS)
    if isinstance(function, FunctionValue) and ev.follows():
        text = ev.call(function, Arguments((ev.unknown("sample"),)), at, f"{owners.FORMATS}(…)")
        ev.emit(Formatted, at, trainer=trainer, text=text)
    return trainer


def trained(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> None:
    """`trainer.train()`, or `trainer.fit(module, loader)`: each method of the program that it calls, once for many."""
    if value.is_a(owners.TRAINER) and name in owners.USES:
        ev.store.set((value.uid, keys.TRAINED), Constant(value=True))
    if not ev.follows():
        return
    if value.is_a(owners.TRAINER) and name == "train":
        _by_trainer(ev, value, at)
    elif value.is_a(owners.RUNNER) and name == "fit":
        module, data = (
            given.get(0, "model"),
            given.get(1, "train_dataloaders") or given.options.get("datamodule"),
        )
        for one in alternatives(module):
            if isinstance(one, Object) and one.is_a(owners.LIGHTNING):
                _by_runner(ev, one, _training_loader(ev, one, data, at), at)


def _by_trainer(ev: Evaluator, trainer: Object, at: s.Span) -> None:
    model = trainer.argument(0, "model") or ev.unknown("model")
    if not isinstance(model, Object) or not isinstance(model.definition, ClassValue):
        _by_trainer_in_mode(ev, trainer, model, at)
        return
    ev.emit(ModeChange, at, module=model, training=True)  # before each step
    _by_trainer_in_mode(ev, trainer, model, at)
    ev.emit(ModeChange, at, module=model, training=None)  # it may have evaluated at the end


def _by_trainer_in_mode(ev: Evaluator, trainer: Object, model: Value, at: s.Span) -> None:
    own = _method(ev, trainer, "compute_loss")
    if own is not None:
        labels = ev.op("iterate", (ev.unknown("train_dataset"),), at, "labels")
        inputs = Table(entries={"labels": labels}, others=[ev.unknown("inputs")])
        counts: dict[str, Value] = {_COUNTS: ev.unknown(_COUNTS)} if _takes(own, _COUNTS) else {}
        owned_methods.for_each_batch(ev, own, Arguments((trainer, model, inputs), counts), trainer)
    elif isinstance(model, Object) and shifts_labels(model.type):
        _with_collated(ev, trainer, model, at)
    elif isinstance(model, Object) and isinstance(model.definition, ClassValue):
        with loops.loop(ev, at):
            result = ev.call(model, Arguments(open=True), at, "model(…)")
            for loss in _losses(result):
                ev.emit(Backward, at, loss=loss, accumulates=False, by_framework=True)


def _takes(function: FunctionValue, name: str) -> bool:
    return any(one.name == name or one.star == "**" for one in function.origin.code.parameters)


def _with_collated(ev: Evaluator, trainer: Object, model: Object, at: s.Span) -> None:
    """A causal model of a library is given the tokens and labels that a function of the program's own has collated."""
    collate = trainer.options.get(owners.COLLATES)
    is_own = isinstance(collate, (FunctionValue, Bound, Partial)) or (
        isinstance(collate, Object) and isinstance(collate.definition, ClassValue)
    )
    if collate is None or not is_own:
        return
    with loops.loop(ev, at):
        samples = Items(items=[ev.unknown("sample")], exact=False)
        batch = ev.call(collate, Arguments((samples,)), at, f"{owners.COLLATES}(…)")
        given = {name: subscripts.item(ev, batch, Constant(value=name), at) for name in _GIVEN}
        ev.call(model, Arguments((), given), at, "model(…)")


def _losses(result: Value) -> list[Value]:
    """The losses in what a model returns to a trainer: `{"loss": loss}`, or the first of several."""
    found: list[Value] = []
    for one in alternatives(result):
        match one:
            case Table(entries={"loss": loss}) | Items(kind="tuple", items=[loss, _, *_]):
                found.append(loss)
            case Op(name=name, options={"loss": loss}) if name.startswith("transformers."):
                found.append(loss)
    return found


def _training_loader(ev: Evaluator, module: Object, data: Value | None, at: s.Span) -> Value | None:
    """What is trained on: the loader that is handed over, or what a data module, or the module itself, gives when it is asked."""
    is_none = data is None or (isinstance(data, Constant) and data.value is None)
    source = module if is_none else data
    gives = _method(ev, source, owners.TRAINING_LOADER) if isinstance(source, Object) else None
    if gives is None or not isinstance(source, Object):
        return data
    first = _method(ev, source, owners.SETS_UP[owners.DATA])
    if first is not None:
        ev.call_function(first, Arguments((source,), open=True), at, source)
    return ev.call_function(gives, Arguments((source,)), at, source)


def _by_runner(ev: Evaluator, module: Object, loader: Value | None, at: s.Span) -> None:
    own = _method(ev, module, "configure_optimizers")
    if own is not None:
        owned_methods.configured(ev, own, Arguments((module,)), module)
    step = _method(ev, module, "training_step")
    if step is None:
        return
    with loops.loop(ev, at):  # an epoch
        known = loader is not None and isinstance(loader, Object)
        if loader is not None:
            ev.emit(Called, at, name="set_epoch", args=(loader,))
        with loops.loop(ev, at, over=loader):
            if known and loader is not None:
                batch = elements.element(ev, loader, at)
            else:
                batch = owned_methods.batch_of(ev, step) or ev.unknown("batch")
            given = Arguments((module, batch, ev.unknown("batch_idx")))
            owned_methods.for_each_batch(ev, step, given, module, looped=True)


def _method(ev: Evaluator, value: Object, name: str) -> FunctionValue | None:
    found = (
        classes.class_attribute(ev, value.definition, name)
        if isinstance(value.definition, ClassValue)
        else None
    )
    return found if isinstance(found, FunctionValue) else None
