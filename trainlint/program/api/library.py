"""What calls into torch and the libraries around it do to a training program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trainlint.facts.api import torch_names
from trainlint.facts.api.attention import SDPA, fused
from trainlint.facts.api.classes import LOADER, MODULE, SCALER, SOME_OPTIMIZER
from trainlint.facts.api.layers import CONTAINERS, DROPOUTS, is_called_dropout
from trainlint.facts.api.losses import LOSS_FUNCTIONS
from trainlint.facts.api.of_tensors import OF_TENSORS
from trainlint.facts.api.second_names import AUTOCASTS
from trainlint.facts.model.events.batches import ItemsMade, WorkersStart
from trainlint.facts.model.events.calls import Called, CalledBack
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import Built, ModuleChanged, Wrapped
from trainlint.facts.model.events.operations import AttentionCall
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, Clip, Scheduled
from trainlint.facts.model.order import events
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value
from trainlint.program.api import (
    batches,
    builtin,
    checkpointing,
    copying,
    einops,
    frameworks,
    host,
    methods,
    noting,
    old_ways,
    streams,
)
from trainlint.program.api.autocasting import ASKS_AUTOCAST, autocast_switched, is_autocast_on, region
from trainlint.program.api.grad_modes import GRAD_MODES, SWITCHES, is_recording, switched
from trainlint.program.api.harmless import is_harmless
from trainlint.program.api.indexing import looks_at_index
from trainlint.program.api.standard import STANDARD, namespace
from trainlint.program.evaluate import attributes, batch_making, classes, containers, ordering
from trainlint.program.evaluate.keys import INITIALISED, WRAPPED
from trainlint.program.evaluate.values import (
    Arguments,
    Bound,
    ClassValue,
    FileModule,
    FunctionValue,
    Library,
    Partial,
)
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


_WRAPPERS = frozenset(
    "torch.compile torch.nn.DataParallel torch.nn.parallel.DataParallel torch.nn.parallel.DistributedDataParallel "
    "torch.jit.script torch.jit.trace torch.nn.SyncBatchNorm.convert_sync_batchnorm "
    "torch.distributed.fsdp.FullyShardedDataParallel torch.nn.utils.spectral_norm torch.nn.utils.weight_norm "
    "torch.nn.utils.parametrizations.spectral_norm torch.nn.utils.parametrizations.weight_norm "
    "apex.parallel.DistributedDataParallel torch.nn.utils.parametrize.register_parametrization".split()
)
"""Give back a module that stands for the one they are given."""


_ITERATES = (
    "tqdm.",
    "rich.progress.track",
    "fastprogress.",
    "alive_progress.",
    "itertools.chain",
    "itertools.islice",
    "itertools.cycle",
    "progressbar.",
)


_FIRST = ("input", "tensor", "tensors", "data")
"""The names that the first argument of torch's operations has."""

_CASTS = frozenset(("typing.cast", "typing_extensions.cast"))
"""What a type checker alone takes for more than its second argument."""


def call_name(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """A call of a library's function or class by its dotted name."""
    noting.note_use(ev, name, at, text, given)
    name = torch_names.canonical(name)
    old_ways.note_function(ev, name, given, at, text)
    host.note_function(ev, name, given, at, text)
    if torch_names.is_noted(name):
        ev.emit(Called, at, name=name, args=given.args, options=given.options, is_open=given.open)
    found = frameworks.call_name(ev, name, given, at)
    if found is None and (do := _FUNCTIONS.get(name)) is not None:
        found = do(ev, name, given, at, text)
    if found is None and (do := _by_pattern(name)) is not None:
        found = do(ev, name, given, at, text)
    if found is None:
        found = _made(ev, name, given, at, text)
    return found if found is not None else _operation(ev, name, given, at, text)


_Call = Callable[["Evaluator", str, Arguments, s.Span, str], Value | None]


def _by_pattern(name: str) -> _Call | None:
    """What does the work of functions that are known by a part of their names."""
    if name.startswith(_ITERATES):
        return _passed_through
    if name.startswith("argparse.") and name.endswith(("ArgumentParser", "Namespace")):
        return namespace
    if name.startswith("torch.nn.utils.clip_grad_"):
        return _clipped
    if name.endswith("Module.__init__") or (
        name.endswith(".__init__") and MODULE in torch_names.bases_of_class(name.removesuffix(".__init__"))
    ):
        return _initialised
    if name.startswith("torch.nn.init."):
        return _weights_drawn
    if name.startswith(("torch.manual_seed", "torch.cuda.")):
        return _plain
    return None


def _made(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """A loss, or an object of a class of which rules know something; None for anything else."""
    operation = torch_names.operation(name)
    if operation in DROPOUTS and name == f"torch.nn.functional.{operation}":
        noting.note_dropout(ev, operation, given, at)
    if (function := fused(name)) is not None:
        noting.note_dropout(ev, function, given, at)
    if operation in LOSS_FUNCTIONS and name != operation:
        return noting.loss_of(ev, operation, given, at, text)
    bases = torch_names.library_bases(name)
    if len(bases) == 1 and name not in (LOADER, SCALER, MODULE):
        return None
    made = ev.object(name, bases, at, given)
    if not bases.isdisjoint(CONTAINERS):
        containers.fill_container(ev, made, given)
    ev.emit(Built, at, object=made, **ev.building())
    if name == LOADER:
        _loader_made(ev, made, at)
    if name == "torch.optim.lr_scheduler.LambdaLR":
        _rated(ev, made, at)
    return made


def _rated(ev: Evaluator, scheduler: Object, at: s.Span) -> None:
    """What the functions of a `LambdaLR` give for a step."""
    given = scheduler.argument(1, "lr_lambda")
    for function in given.items if isinstance(given, Items) else [given]:
        if isinstance(function, (FunctionValue, Bound, Partial)):
            with ev.inside(nodes=[]):
                factor = ev.call(function, Arguments((ev.unknown("step"),)), at, "lr_lambda(…)")
            ev.emit(Scheduled, at, scheduler=scheduler, factor=factor)


def _operation(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """An operation on tensors, or a call of which nothing is known but the name."""
    operation = torch_names.operation(name)
    if name.startswith("torch."):
        given = given.by_position(*_FIRST)
        if operation in OF_TENSORS and not given.args and (given.open or not given.options):
            given = Arguments((ev.unknown(),), given.options, given.open)  # `torch.split(**how)`
    first = given.args[0] if given.args else None
    if name.startswith("torch.distributed.") and isinstance(first, Object) and first.is_a(MODULE):
        ev.emit(Wrapped, at, module=first, name=name)
    if not is_harmless(name):
        ev.emit(Escape, at, values=given.all(), by=name.rpartition(".")[2])
        for one in given.args:
            called_back(ev, one, at, is_kept=name.rpartition(".")[2][:1].isupper())
    result = noting.noted(ev, ev.op(operation, given.args, at, text, given.options), at, name)
    if operation == SDPA:
        ev.emit(AttentionCall, at, name=operation, output=result, is_open=given.open)
    return result


def _plain(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    return ev.op(name, given.args, at, text, given.options)


def _weights_drawn(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """`nn.init.xavier_uniform_(layer.weight)`: the layer begins again."""
    holder = attributes.holder_of(given.args[0]) if given.args else None
    if isinstance(holder, Object) and holder.is_a(MODULE):
        ev.emit(ModuleChanged, at, module=holder, what="reset_parameters")
    return _plain(ev, name, given, at, text)


def _device(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    return ev.op("device", given.args, at, text, given.options)


def _second(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return given.args[1] if len(given.args) == 2 else None


def _clipped(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    clipped = given.first("parameters")
    if clipped is None:
        return None
    if not _is_infinite(given.get(1, "max_norm")):
        ev.emit(Clip, at, parameters=clipped, function=name)
    return ev.op(name, (), at, text)


def _backward(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    plain = name == "torch.autograd.backward"
    loss = given.first("tensors") if plain else given.get(1, "roots")
    if not (isinstance(loss, Op) and loss.is_leaf):  # else there is nothing behind it: its gradient is set
        retains = given.get(2, "retain_graph")
        ev.emit(Backward, at, loss=loss or ev.unknown(), accumulates=plain, retains=retains)
    return Constant(value=None)


def _gradients(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    outputs = given.get(0, "outputs")
    if outputs is None:
        return None
    ev.emit(ParametersRead, at, target=outputs)
    ev.emit(ParametersRead, at, target=given.get(1, "inputs") or outputs)
    made = ev.op("autograd.grad", given.args, at, text, given.options)
    made.is_open = given.open
    return made


def _initialised(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if given.args:
        ev.store.set((given.args[0].uid, INITIALISED), Constant(value=True))
    return Constant(value=None)


def _is_infinite(limit: Value | None) -> bool:
    """Whether a limit lets everything pass: such clipping only measures."""
    match limit:
        case Constant(value="inf" | "Infinity"):
            return True
        case Constant(value=float() as number):
            return number == float("inf")
        case Library(name=name):
            return name.endswith(".inf")
    return False


def _is_tensor(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return builtin.is_instance_of_tensor(ev, name, given, at, text)


def _collated(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`default_collate(list(zip(inputs, targets)))` puts the columns together again that `zip` has made rows of."""
    match given.args:
        case (Op(name="zip", inputs=(_, _, *_) as columns),):
            return Items(items=list(columns), at=ev.place(at))
    return None


def _loader_made(ev: Evaluator, loader: Object, at: s.Span) -> None:
    """What the dataset does for each item, and each worker process before it begins."""
    dataset = batches.whole_of(loader.argument(0, "dataset"))
    if isinstance(dataset, Object) and isinstance(dataset.definition, ClassValue):
        method = classes.class_attribute(ev, dataset.definition, "__getitem__")
        if isinstance(method, FunctionValue) and len(method.origin.code.parameters) > 1:
            by_index = looks_at_index(ev, dataset.definition, method.origin)
            names = batch_making.names_of_items(ev, dataset, method)
            held = batch_making.held_for_items(ev, dataset, method)
            ev.emit(ItemsMade, at, loader=loader, names=names, by_index=by_index, held=held)
    ordering.note_order(ev, loader, at)
    streams.note_stream(ev, loader, at)
    batches.note_batch(ev, loader, at)
    function = loader.argument(10, "worker_init_fn")
    if isinstance(function, (FunctionValue, Bound, Partial)):
        worker = ev.unknown("worker id")
        with ev.inside(nodes=[]):
            ev.call(function, Arguments((worker,)), at, "worker_init_fn(…)")
            done = tuple(one for one in events(ev.nodes) if isinstance(one, Called))
        ev.emit(WorkersStart, at, loader=loader, worker=worker, done=done)


def called_back(ev: Evaluator, value: Value, at: s.Span, is_kept: bool = False) -> None:
    """A nested function that is handed to a library is called by it, sooner or later; one that a class keeps, perhaps where a
    function around it has switched gradients off."""
    if (
        isinstance(value, FunctionValue)
        and value.env.parent is not None
        and (value.env.path, value.code.at[0]) not in ev.trace.reached
    ):
        ev.emit(CalledBack, at)
        may_be_off = is_kept and any(
            one.code is not None and not one.code.names.isdisjoint(SWITCHES) for one in ev.frames
        )
        with ev.inside(records=None if may_be_off else ev.records):
            ev.call_function(value, Arguments(open=True), at)


def _passed_through(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first = given.args[0] if given.args else None
    if first is None:
        first = given.options.get("iterable") or given.options.get("model") or given.options.get("module")
    if first is not None and name.endswith("Parallel"):
        ev.emit(Wrapped, at, module=first, name=name)
        ev.store.set((first.uid, WRAPPED), Constant(value=True))
    if name == "itertools.chain" and len(given.args) > 1:
        return Items(items=list(given.args), exact=False)
    if name == "itertools.cycle" and first is not None:
        return ev.op("filter", (first,), at, text)
    return first if first is not None else ev.op(name, given.args, at, text)


def _with_parameters(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`functional_call(model, parameters, inputs)`: the model, with other parameters than its own."""
    model, inputs, options = given.get(0, "module"), given.get(2, "args"), given.get(3, "kwargs")
    if not isinstance(model, Object) or inputs is None or given.open:
        return None
    ev.emit(Escape, at, values=(model, *given.args[1:2]))
    args = tuple(inputs.items) if isinstance(inputs, Items) else (inputs,)
    entries = options.entries if isinstance(options, Table) else {}
    more = {str(key): one for key, one in entries.items()}
    return ev.call(model, Arguments(args, more, isinstance(inputs, Items) and not inputs.exact), at, text)


def _imported(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`importlib.import_module("torch.optim")`."""
    match given.args:
        case (Constant(value=str(wanted), is_default=False), *_) if wanted:
            module = wanted.lstrip(".")
            file = ev.project.module(ev.env.path, len(wanted) - len(module), module)
            if file is not None:
                return FileModule(path=file)
            return Library(name=wanted) if module == wanted else None
    return None


def _instantiated(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`instantiate(config.optimizer, params=model.parameters())`: what takes the parameters of a model and has no other
    arguments but those of a config steps them."""
    return _some_optimizer(ev, Arguments(given.args[1:], given.options, given.open), at)


def _some_optimizer(ev: Evaluator, given: Arguments, at: s.Span) -> Object | None:
    parameters = given.first("params")
    if not (isinstance(parameters, Op) and parameters.name == "parameters" and len(given.args) <= 1):
        return None
    made = ev.object(
        SOME_OPTIMIZER, torch_names.library_bases(SOME_OPTIMIZER), at, Arguments((parameters,), open=True)
    )
    made.told_by = (
        "a config says which class it is of: that it is an optimizer follows from the parameters it is given"
    )
    return made


def call_unknown(ev: Evaluator, func: Value, given: Arguments, at: s.Span, text: str) -> Value:
    """A call of something of which only the value is known, or a method of it."""
    if isinstance(func, Op) and func.name == "getattr":
        name = func.options["name"]
        assert isinstance(name, Constant)
        return methods.call_method(ev, func.inputs[0], name.value, given, at, text)
    if isinstance(func, Op) and func.name == "hydra.utils.instantiate":
        optimizer = _some_optimizer(ev, given, at)  # a config that leaves the parameters open
        if optimizer is not None:
            return optimizer
    if len(given.args) == 1 and not given.options and is_called_dropout(text):
        return ev.op("dropout", given.args, at, text)
    ev.emit(Escape, at, values=given.all(), by=text.partition("(")[0].rpartition(".")[2])
    for one in given.args:
        called_back(ev, one, at)
    return ev.op("call", (func, *given.args), at, text, given.named())


_FUNCTIONS: dict[str, _Call] = {
    "torch.set_autocast_enabled": autocast_switched,
    ASKS_AUTOCAST: is_autocast_on,
    "torch.is_tensor": _is_tensor,
    "torch.utils.data.default_collate": _collated,
    "torch.utils.checkpoint.checkpoint": checkpointing.checkpointed,
    "torch.utils.checkpoint.checkpoint_sequential": checkpointing.in_segments,
    **dict.fromkeys(_WRAPPERS, _passed_through),
    **dict.fromkeys((*GRAD_MODES, "torch.set_grad_enabled"), switched),
    "torch.is_grad_enabled": is_recording,
    **dict.fromkeys(AUTOCASTS, region),
    **dict.fromkeys(("copy.deepcopy", "copy.copy"), copying.copied),
    **dict.fromkeys(_CASTS, _second),
    **STANDARD,
    **dict.fromkeys(("torch.autograd.backward", "torch.distributed.autograd.backward"), _backward),
    "torch.autograd.grad": _gradients,
    "torch.device": _device,
    "einops.rearrange": einops.rearrange,
    "einops.einsum": einops.einsum,
    **dict.fromkeys(
        ("torch.func.functional_call", "torch.nn.utils.stateless.functional_call"), _with_parameters
    ),
    "importlib.import_module": _imported,
    **dict.fromkeys(("hydra.utils.instantiate", "hydra.utils.call"), _instantiated),
}
"""Functions and classes of libraries that do something of their own; a result of None is that of any other call."""
