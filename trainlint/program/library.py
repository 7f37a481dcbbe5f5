"""What calls into torch and the libraries around it do to a training program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts import torch_api as api
from trainlint.facts import torch_names
from trainlint.facts.events import (
    AttentionCall,
    Backward,
    Built,
    Called,
    Clip,
    Dropped,
    Escape,
    ForwardCalled,
    Ignored,
    ItemsMade,
    LibraryCall,
    LossCall,
    Operation,
    Overwritten,
    ParametersRead,
    RequiresGrad,
    WorkersStart,
    Wrapped,
)
from trainlint.facts.order import events
from trainlint.facts.values import (
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Table,
    Unknown,
    Value,
)
from trainlint.finding import Place
from trainlint.program import batches, builtin, classes, frameworks, host, methods, old_ways
from trainlint.program import syntax as s
from trainlint.program.indexing import looks_at_index
from trainlint.program.values import Arguments, Bound, ClassValue, FunctionValue, Library, Partial, Super

if TYPE_CHECKING:
    from trainlint.program.evaluator import Evaluator

CONTENTS = "what the container holds"
WRAPPED = "stands behind a wrapper, which calls it"
"""The name under which a container module keeps its items."""


GRADIENT_FUNCTIONS = frozenset(
    "_grad_fn grad_fn _backward _ctx _prev creator _op creation_op _parents".split()
)
"""Attributes by which small autograd frameworks hang a tensor into the graph themselves."""

_TENSOR_ATTRIBUTES = frozenset(
    "data grad T mT H shape dtype device requires_grad ndim is_cuda grad_fn itemsize".split()
)
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
_HARMLESS = (
    "torch.",
    "numpy.",
    "math.",
    "os.",
    "time.",
    "random.",
    "json.",
    "logging.",
    "wandb.",
    "torchvision.",
    "sys.",
    "re.",
    "matplotlib.",
    "sklearn.",
    "tensorboardX.",
    "builtins.",
    "collections.",
    "itertools.",
    "datetime.",
    "warnings.",
    "pathlib.",
    "pandas.",
    "scipy.",
    "PIL.",
    "cv2.",
    "torchsummary.",
    "torchinfo.",
    "einops.",
    "functools.",
    "yaml.",
    "torchtext.",
    "torchaudio.",
    "loguru.",
    "gc.",
    "pickle.",
    "shutil.",
    "typing.",
    "argparse.",
    "evaluate.",
    "datasets.",
    "numbers.",
    "string.",
    "tempfile.",
    "torchmetrics.",
    "rich.",
    "dataclasses.",
    "operator.",
    "timeit.",
    "fvcore.",
    "thop.",
)
"""Libraries that step no optimizer, clear no gradients and change no mode of what they are given."""

_GRAD_MODES = {"torch.no_grad": False, "torch.inference_mode": False, "torch.enable_grad": True}


def is_harmless(name: str) -> bool:
    """Whether a name is that of such a library."""
    return name.startswith(_HARMLESS)


# Contexts


def records_inside(context: Value) -> bool | str | None:
    """Whether autograd records inside `with context` or under `@context`; "same" if that changes nothing."""
    match context:
        case Library(name=name) if torch_names.canonical(name) in _GRAD_MODES:
            return _GRAD_MODES[torch_names.canonical(name)]
        case Object(type=name) if name in _GRAD_MODES:
            mode = context.argument(0, "mode")
            if name == "torch.inference_mode" and mode is not None:
                return _opposite(mode)
            return _GRAD_MODES[name]
        case Object(type="torch.set_grad_enabled"):
            mode = context.argument(0, "mode")
            known = mode.value if isinstance(mode, Constant) and not mode.is_default else None
            return known if isinstance(known, bool) else None
    return "same"


def _opposite(mode: Value) -> bool | None:
    return not mode.value if isinstance(mode, Constant) and isinstance(mode.value, bool) else None


# Attributes


def value_attribute(ev: Evaluator, value: Value, name: str, at: s.Span, text: str) -> Value:
    """An attribute of a tensor or of something unknown. The same one each time, where it may be stored."""
    if isinstance(value, Table) and name in value.entries:
        return value.entries[name]
    if isinstance(value, Op) and value.name == "output" and isinstance(value.inputs[0], (Table, Items)):
        return value_attribute(ev, value.inputs[0], name, at, text)
    if name == "data" and _is_packed(value):
        return ev.op("getitem", (value,), at, text)
    if name in _TENSOR_ATTRIBUTES:
        if name == "grad":
            ev.emit(ParametersRead, at, target=holder_of(value))
        return ev.op(name, (value,), at, text)
    made = ev.op("getattr", (value,), at, text or name, options={"name": Constant(value=name)})
    if not isinstance(value, (Items, Table)):
        made.loops = _loops_of(value)
        ev.store.set((value.uid, name), made)
    return made


def _is_packed(value: Value, depth: int = 0) -> bool:
    """Whether a value is a packed sequence, whose `data` are its tensor, graph and all."""
    match value:
        case Op(name=name) if name.endswith(("rnn.pack_padded_sequence", "rnn.pack_sequence")):
            return True
        case Op(inputs=(first, *_)) if value.name == "getitem" or value.owner is not None:
            return depth < 4 and _is_packed(first, depth + 1)
    return False


def _loops_of(value: Value) -> tuple[int, ...]:
    return value.loops if isinstance(value, (Unknown, Op, Object)) else ()


def object_attribute(ev: Evaluator, value: Object, name: str, at: s.Span) -> Value:
    """An attribute of an object that neither it nor its class in the program defines."""
    if name == "module" and api.MODULE in value.bases:
        return value
    if name == "training" and not ev.is_method_of(value):
        return Constant(value=True)
    if name == "__class__" and isinstance(value.definition, ClassValue):
        return value.definition
    inside = builtin.held(ev, value)
    if isinstance(inside, Table) and name in inside.entries:
        return inside.entries[name]
    return value_attribute(ev, value, name, at, name)


def holder_of(value: Value) -> Value:
    """Whose gradient `x.grad` is: the module whose parameters `x` is drawn from, or `x` itself."""
    seen = 0
    while seen < 12:
        seen += 1
        match value:
            case Op(name="parameters", inputs=(owner, *_)):
                return owner
            case Op(name="param_groups", inputs=(owner, *_)):
                return owner
            case Op(
                name="iterate" | "getitem" | "grad" | "data" | "getattr" | "detach" | "filter" | "items",
                inputs=(inner, *_),
            ):
                value = inner
            case Op(name="getattr"):
                return value
            case Choice(options=((_, inner), *_)):
                value = inner
            case Items(items=[inner, *_]):
                value = inner
            case _:
                return value
    return value


def written_by_hand(ev: Evaluator, target: Value, name: str, at: s.Span) -> None:
    """`p.data -= ...`, `p.data = ...`, `p -= lr * p.grad`: an update past any optimizer."""
    holder = holder_of(target)
    if holder is not target or name in ("data", "grad"):
        ev.emit(ParametersRead, at, target=holder)


def is_end_token(value: Value) -> bool:
    """Whether a value is the end-of-sequence token of a tokenizer, or its number."""
    match value:
        case Op(name="getattr", options={"name": Constant(value="eos_token" | "eos_token_id")}):
            return True
    return False


def set_requires_grad(
    ev: Evaluator, target: Value, wanted: Value, at: s.Span, assignment: bool = False
) -> None:
    """`x.requires_grad = wanted`, or `x.requires_grad_(wanted)`."""
    ev.emit(RequiresGrad, at, target=target, wanted=wanted, assignment=assignment)
    if isinstance(target, Op) and not (isinstance(wanted, Constant) and wanted.value is False):
        ev.store.touch(target)
        target.is_leaf = True


def super_of(owner: ClassValue, receiver: Value) -> Value:
    """`super(Class, self)`."""
    return Super(owner=owner, receiver=receiver)


def fill_container(ev: Evaluator, made: Object, given: Arguments) -> None:
    """Give a container module its items."""
    contents: Value
    if "torch.nn.Sequential" in made.bases:
        first = given.args[0] if given.args else None
        if len(given.args) == 1 and isinstance(first, Table):
            contents = Items(items=list(first.entries.values()), exact=not first.others)
        elif len(given.args) == 1 and _is_ordered_pairs(first):
            assert isinstance(first, Items)
            contents = Items(
                items=[
                    one.items[1] if isinstance(one, Items) and len(one.items) == 2 else one
                    for one in first.items
                ],
                exact=first.exact,
            )
        else:
            items: list[Value] = []
            repeated: tuple[tuple[Place, Value], ...] = ()
            for one in given.args:
                items.extend(one.items if isinstance(one, Items) and one.kind == "star" else (one,))
                repeated += one.repeated if isinstance(one, Items) else ()
            last = given.args[-1] if given.args else None
            open_end = isinstance(last, Items) and last.kind == "star" and last.open_end
            contents = Items(
                items=items, exact=not given.open, open_end=open_end, branch=ev.depth(), repeated=repeated
            )
    elif made.bases & {"torch.nn.ModuleDict", "torch.nn.ParameterDict"}:
        first = given.args[0] if given.args else Table()
        contents = first if isinstance(first, Table) else Table(others=[first])
    else:
        first = given.args[0] if given.args else Items()
        contents = (
            Items(
                items=list(first.items),
                exact=first.exact,
                open_end=first.open_end,
                branch=ev.depth(),
                repeated=first.repeated,
            )
            if isinstance(first, Items)
            else Items(items=[builtin.element(ev, first, (0, 0))], exact=False)
        )
    ev.store.set((made.uid, CONTENTS), contents)


def _is_ordered_pairs(value: Value | None) -> bool:
    return (
        isinstance(value, Items)
        and bool(value.items)
        and all(isinstance(one, Items) and one.kind == "tuple" and len(one.items) == 2 for one in value.items)
    )


# Calls of names

_CASTS = frozenset(("typing.cast", "typing_extensions.cast"))
"""What a type checker alone takes for more than its second argument."""


def call_name(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """A call of a library's function or class by its dotted name."""
    note_use(ev, name, at, text, given)
    name = torch_names.canonical(name)
    old_ways.note_function(ev, name, given, at, text)
    host.note_function(ev, name, given, at, text)
    args = given.args
    first = args[0] if args else None
    if torch_names.is_noted(name):
        ev.emit(Called, at, name=name, args=args, options=given.options, is_open=given.open)
    framework = frameworks.call_name(ev, name, given, at)
    if framework is not None:
        return framework
    if name in _WRAPPERS or name.startswith(_ITERATES):
        return _passed_through(ev, name, first, given, at, text)
    if name in _GRAD_MODES or name == "torch.set_grad_enabled":
        if isinstance(first, (FunctionValue,)):
            return first
        made = ev.object(name, frozenset((name,)), at, given)
        if name == "torch.set_grad_enabled":
            ev.records = records_inside(made)  # type: ignore[assignment]
        return made
    if name in api.AUTOCASTS:
        return _region_of_autocast(ev, name, given, at)
    if name in ("copy.deepcopy", "copy.copy") and first is not None:
        return _copied(ev, first, at, given, f"{name[5:]}(…)")
    if name in _CASTS and len(args) == 2:
        return args[1]
    if name == "functools.partial" and first is not None:
        return Partial(function=first, args=args[1:], options=given.options)
    if name == "collections.OrderedDict":
        return first if isinstance(first, (Items, Table)) else Table()
    if name in ("collections.defaultdict", "collections.deque"):
        return Table() if name.endswith("dict") else Items(exact=False)
    if name.startswith("argparse.") and name.endswith(("ArgumentParser", "Namespace")):
        return _namespace(ev, name, given, at)
    if name.startswith("torch.nn.utils.clip_grad_") and first is not None:
        if not _is_infinite(given.get(1, "max_norm")):
            ev.emit(Clip, at, parameters=first)
        return ev.op(name, (), at, text)
    if name in ("torch.autograd.backward", "torch.distributed.autograd.backward"):
        plain = name == "torch.autograd.backward"
        loss = first if plain else given.get(1, "roots")
        retains = given.get(2, "retain_graph")
        ev.emit(Backward, at, loss=loss or ev.unknown(), accumulates=plain, retains=retains)
        return Constant(value=None)
    if name == "torch.autograd.grad" and first is not None:
        ev.emit(ParametersRead, at, target=first)
        ev.emit(ParametersRead, at, target=given.get(1, "inputs") or first)
        return ev.op("autograd.grad", args, at, text, given.options)
    if name.endswith("Module.__init__") or (name.startswith("torch.nn.") and name.endswith(".__init__")):
        if first is not None:
            ev.store.set((first.uid, classes.INITIALISED), Constant(value=True))
        return Constant(value=None)
    if name.startswith(("torch.nn.init.", "torch.manual_seed", "torch.cuda.")):
        return ev.op(name, args, at, text, given.options)
    operation = torch_names.operation(name)
    if operation in api.DROPOUTS and name == f"torch.nn.functional.{operation}":
        note_dropout(ev, operation, given, at)
    if operation in api.LOSS_FUNCTIONS and name != operation:
        return loss_of(ev, operation, given, at, text)
    bases = torch_names.library_bases(name)
    if len(bases) > 1 or name in (api.LOADER, api.SCALER):
        made = ev.object(name, bases, at, given)
        if not bases.isdisjoint(api.CONTAINERS):
            fill_container(ev, made, given)
        ev.emit(Built, at, object=made, within=ev.building_in())
        if name == api.LOADER:
            _loader_made(ev, made, at)
        return made
    if name == "torch.device":
        return ev.op("device", args, at, text, given.options)
    if name.startswith("torch.distributed.") and isinstance(first, Object) and first.is_a(api.MODULE):
        ev.emit(Wrapped, at, module=first, name=name)
    if not name.startswith(_HARMLESS):
        ev.emit(Escape, at, values=given.all())
        for one in args:
            called_back(ev, one, at)
    result = noted(ev, ev.op(operation, args, at, text, given.options), at, name)
    if operation == api.SDPA:
        ev.emit(AttentionCall, at, name=operation, output=result, is_open=given.open)
    return result


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


def _region_of_autocast(ev: Evaluator, name: str, given: Arguments, at: s.Span) -> Object:
    """`torch.autocast(...)` by any of its names, with its arguments by theirs."""
    device, names = api.AUTOCASTS[name]
    options = {**dict(zip(names, given.args, strict=False)), **given.options}
    if device is not None:
        options["device_type"] = Constant(value=device)
    return ev.object(api.AUTOCAST, frozenset((api.AUTOCAST,)), at, Arguments((), options, given.open))


def _loader_made(ev: Evaluator, loader: Object, at: s.Span) -> None:
    """What the dataset does for each item, and each worker process before it begins."""
    dataset = loader.argument(0, "dataset")
    if isinstance(dataset, Object) and isinstance(dataset.definition, ClassValue):
        method = classes.class_attribute(ev, dataset.definition, "__getitem__")
        if isinstance(method, FunctionValue) and len(method.code.parameters) > 1:
            by_index = looks_at_index(ev, dataset.definition, method)
            ev.emit(ItemsMade, at, loader=loader, names=method.code.names, by_index=by_index)
    batches.note_batch(ev, loader, at)
    function = loader.argument(10, "worker_init_fn")
    if isinstance(function, (FunctionValue, Bound, Partial)):
        outer, ev.nodes = ev.nodes, []
        worker = ev.unknown("worker id")
        try:
            ev.call(function, Arguments((worker,)), at, "worker_init_fn(…)")
            done = tuple(one for one in events(ev.nodes) if isinstance(one, Called))
        finally:
            ev.nodes = outer
        ev.emit(WorkersStart, at, loader=loader, worker=worker, done=done)


def note_use(ev: Evaluator, name: str, at: s.Span, text: str, given: Arguments) -> None:
    """Note that a name which the tables know is used."""
    if name in api.DEPRECATED_AMP or name in api.DEPRECATED_VARIABLE:
        ev.emit(
            LibraryCall,
            at,
            name=name,
            text=text,
            args=given.args,
            options=given.options,
            is_fallback=ev.in_fallback(),
        )


def note_forward(ev: Evaluator, module: Value, at: s.Span) -> None:
    """Note that `forward` of a module is called as a method, by other code than its own."""
    if not isinstance(module, Object) or api.MODULE not in module.bases:
        return
    if ev.store.get((module.uid, WRAPPED)) is not None:
        return
    cls = module.definition
    calls_itself = isinstance(cls, ClassValue) and classes.has_method(ev, cls, "__call__")
    if not calls_itself and all(frame.receiver is not module for frame in ev.frames):
        ev.emit(ForwardCalled, at, module=module)


def note_dropout(ev: Evaluator, function: str, given: Arguments, at: s.Span) -> None:
    """Note that a function drops in the forward of a module."""
    module = ev.forwarding()
    if module is not None:
        ev.emit(
            Dropped,
            at,
            function=function,
            share=given.get(*api.DROPOUTS[function]),
            training=given.get(2, "training") if function != "scaled_dot_product_attention" else None,
            module=module,
            is_open=given.open,
        )


def loss_of(
    ev: Evaluator, function: str, given: Arguments, at: s.Span, text: str, owner: Object | None = None
) -> Op:
    """A loss of torch's is computed."""
    output = ev.op(function, given.args, at, text, given.options, owner)
    name = owner.type.replace("torch.", "") if owner is not None else text.removesuffix("(…)")
    ev.emit(
        LossCall,
        at,
        name=name,
        function=function,
        expects=api.LOSS_FUNCTIONS[function],
        output=output,
        built=owner.at if owner is not None else None,
        is_open=given.open or (owner is not None and owner.is_open),
    )
    return output


_OVERWRITES = frozenset(("masked_fill", "masked_fill_", "where"))


def _overwritten(inputs: tuple[Value, ...]) -> tuple[Value, Value, Value]:
    """What `where(condition, this, otherwise)` keeps, under which condition, and what it puts in place of the rest."""
    where, value, other = inputs[:3]
    return (value, where, other) if isinstance(other, Constant) else (other, where, value)


def note_overwritten(ev: Evaluator, tensor: Value, at: s.Span) -> None:
    """Note that a parameter, or the result of an operation that keeps it, is changed in place."""
    while isinstance(tensor, Op) and tensor.name == "output":
        tensor = tensor.inputs[0]
    if isinstance(tensor, Op) and (tensor.name in api.SAVES_RESULT or is_parameter(tensor)):
        ev.emit(Overwritten, at, tensor=tensor, records=ev.records)


def is_parameter(value: Op) -> bool:
    """Whether a tensor certainly is a parameter of a layer."""
    match value:
        case Op(name=api.PARAMETER):
            return True
        case Op(
            name="getattr", inputs=(Object(type=kind),), options={"name": Constant(value="weight" | "bias")}
        ):
            return kind.removeprefix("torch.nn.") in api.WITH_PARAMETERS and kind.startswith("torch.nn.")
        case Op(name="iterate", inputs=(Op(name="parameters", inputs=(Object(),)),)):
            return True
    return False


def note_ignored(ev: Evaluator, labels: Value, where: Value, value: Value, at: s.Span) -> None:
    """Note that labels are set to what losses ignore."""
    number = value.value if isinstance(value, Constant) else None
    if number == api.IGNORED:
        ev.emit(Ignored, at, labels=labels, where=where)


def noted(ev: Evaluator, made: Op, at: s.Span, function: str = "") -> Op:
    """Note what rules ask about.

    The log-softmax in a function of the program's own makes that function a loss, or the end of a model.
    """
    frame = ev.frames[-1]
    if made.name in api.ASKED and not ev.project.is_of_framework(ev.env.path):
        ev.emit(Operation, at, output=made, function=function)
    if made.name in _OVERWRITES and len(made.inputs) > 2:
        tensor, where, value = made.inputs[:3] if made.name != "where" else _overwritten(made.inputs)
        note_ignored(ev, tensor, where, value, at)
    if made.name == "log_softmax" and frame.code is not None:
        name = frame.receiver.type if isinstance(frame.receiver, Object) else frame.code.name
        ev.emit(
            LossCall,
            at,
            name=name,
            function="log_softmax",
            expects=api.Meaning.LOGITS,
            output=made,
            built=frame.receiver.at if isinstance(frame.receiver, Object) else None,
        )
    return made


def called_back(ev: Evaluator, value: Value, at: s.Span) -> None:
    """A nested function that is handed to a library is called by it, sooner or later."""
    if (
        isinstance(value, FunctionValue)
        and value.env.parent is not None
        and (value.env.path, value.code.at[0]) not in ev.trace.reached
    ):
        ev.call_function(value, Arguments(open=True), at)


def _passed_through(
    ev: Evaluator, name: str, first: Value | None, given: Arguments, at: s.Span, text: str
) -> Value:
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


def _copied(ev: Evaluator, value: Value, at: s.Span, given: Arguments, text: str) -> Value:
    match value:
        case Object():
            made = Object(
                type=value.type,
                bases=value.bases,
                at=ev.place(at),
                args=value.args,
                options=value.options,
                loops=ev.loops,
                definition=value.definition,
            )
            ev.objects.append(made)
            for name, held in ev.store.owned(value.uid).items():
                ev.store.set((made.uid, name), held)
            return made
        case Items():
            return Items(kind=value.kind, items=list(value.items), exact=value.exact)
        case Table():
            return Table(entries=dict(value.entries), others=list(value.others))
    return ev.op("copy", (value,), at, text, {"deep": Constant(value=text.startswith("deep"))})


def _namespace(ev: Evaluator, name: str, given: Arguments, at: s.Span) -> Object:
    made = ev.object(name, frozenset((name,)), at, given)
    for option, value in given.options.items():
        ev.store.set((made.uid, option), value)
    return made


def call_unknown(ev: Evaluator, func: Value, given: Arguments, at: s.Span, text: str) -> Value:
    """A call of something of which only the value is known, or a method of it."""
    if isinstance(func, Op) and func.name == "getattr":
        name = func.options["name"]
        assert isinstance(name, Constant)
        return methods.call_method(ev, func.inputs[0], name.value, given, at, text)
    ev.emit(Escape, at, values=given.all())
    for one in given.args:
        called_back(ev, one, at)
    return ev.op("call", (func, *given.args), at, text, given.options)
