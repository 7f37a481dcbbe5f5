"""What happens in a training program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trainlint.facts.api.deprecated import Deprecated
from trainlint.facts.api.torch_api import LOSS_SETTINGS
from trainlint.facts.model.values import Constant, Guards, Object, Op, Value
from trainlint.finding import Because, Place


@dataclass(eq=False)
class Event:
    """Something that happened.

    Args:
        at: the place in the source that does it.
        calls: the calls that led there, outermost first.
        loops: the loops around it, outermost first, through all calls.
        guards: keys of the undecided conditions it stands under, and which way each went.
        autocast: the regions of autocast around it, or what may be one, outermost first.
        regions: those of frameworks around it, or what may be one, outermost first.
    """

    at: Place
    calls: tuple[Place, ...] = ()
    loops: tuple[int, ...] = ()
    guards: tuple[tuple[Any, bool], ...] = ()
    autocast: tuple[Value, ...] = ()
    regions: tuple[Value, ...] = ()


@dataclass(eq=False)
class Backward(Event):
    """Gradients are computed for `loss`, and added to those that are there if it `accumulates`."""

    loss: Value = field(default_factory=Value)
    accumulates: bool = True
    by_framework: bool = False
    retains: Value | None = None
    """What it is told about keeping the graph; None if nothing."""
    by: Object | None = None
    """The helper of a framework that runs it, where the program calls one."""


@dataclass(eq=False)
class OptimizerStep(Event):
    """An optimizer steps, by itself or through a gradient scaler."""

    optimizer: Value = field(default_factory=Value)
    scaler: Object | None = None


@dataclass(eq=False)
class ZeroGrad(Event):
    """Gradients are cleared: of an optimizer, of a module, or of something unknown."""

    target: Value = field(default_factory=Value)
    to_none: Value | None = None
    """What it is told about `set_to_none`; None if nothing."""


@dataclass(eq=False)
class SchedulerStep(Event):
    """A scheduler steps; `optimizer` is the one whose rate it sets.

    Args:
        told: what it is given, such as a metric or the number of an epoch; None if nothing.
    """

    scheduler: Object = field(default_factory=Object)
    optimizer: Value = field(default_factory=Value)
    told: Value | None = None


@dataclass(eq=False)
class Clip(Event):
    """Gradients are clipped, by norm or by value."""

    parameters: Value = field(default_factory=Value)
    optimizer: Object | None = None
    """The optimizer that holds all of these parameters, where a run has shown it."""
    function: str = ""
    """The dotted name of the function of torch's that does it."""


@dataclass(eq=False)
class Unscale(Event):
    scaler: Object = field(default_factory=Object)
    optimizer: Value = field(default_factory=Value)


@dataclass(eq=False)
class ScaleUpdate(Event):
    """A gradient scaler adapts its scale, after the steps of one round; `to` is a scale that it is given."""

    scaler: Object = field(default_factory=Object)
    to: Value | None = None


@dataclass(eq=False)
class Overwritten(Event):
    """A parameter, or what an operation has kept for the backward pass, is changed in place.

    Args:
        records: whether autograd watches.
    """

    tensor: Op = field(default_factory=Op)
    records: bool | None = True


@dataclass(eq=False)
class Converted(Event):
    """The parameters of a module are converted to a floating type."""

    module: Value = field(default_factory=Value)
    dtype: Value = field(default_factory=Value)


@dataclass(eq=False)
class Wrapped(Event):
    """A module is handed to what places it, and what it is called with, on devices: `name` says which."""

    module: Value = field(default_factory=Value)
    name: str = ""


@dataclass(eq=False)
class ModeChange(Event):
    """`train()` or `eval()`; `training` is None where the mode is computed."""

    module: Value = field(default_factory=Value)
    training: bool | None = True


@dataclass(eq=False)
class Forward(Event):
    """A module is called; `records` is whether autograd watches (None: unknown)."""

    module: Value = field(default_factory=Value)
    inputs: tuple[Value, ...] = ()
    output: Value = field(default_factory=Value)
    records: bool | None = True
    mode: bool | None = None
    """Whether the module was in training mode, where a run has shown it."""
    layers: int = 0
    """How many layers that depend on the mode a run has seen in this call."""
    off: tuple[str, ...] = ()
    """Those of them that were in evaluation mode, with their classes."""


@dataclass(eq=False)
class Built(Event):
    """An object of interest is made: a module, loss, optimizer, scheduler, scaler or loader."""

    object: Object = field(default_factory=Object)
    within: Object | None = None
    """The module in whose forward it is made, where it is."""


@dataclass(eq=False)
class ForwardCalled(Event):
    """The `forward` of another module is called as a method, past the module itself and its hooks.

    Args:
        inputs: what it is given by position; empty where a run has seen it.
    """

    module: Value = field(default_factory=Value)
    inputs: tuple[Value, ...] = ()


@dataclass(eq=False)
class Dropped(Event):
    """A function with dropout in it is called in the forward of a module.

    Args:
        function: `dropout`, `dropout2d`, ..., `scaled_dot_product_attention`.
        share: what is dropped; None where that is left to the function.
        training: what the program says about training; None if it says nothing.
        module: the module whose forward it is.
        mode: whether that module was training, where a run has shown it.
        is_open: whether arguments were given that cannot be seen.
    """

    function: str = ""
    share: Value | None = None
    training: Value | None = None
    module: Object = field(default_factory=Object)
    mode: bool | None = None
    is_open: bool = False


@dataclass(eq=False)
class Normalised(Event):
    """A layer of batch normalisation is called; it is the owner of its output."""

    output: Op = field(default_factory=Op)


@dataclass(eq=False)
class StateTaken(Event):
    """`state_dict()` of a module hands out its weights, not a copy of them."""

    output: Op = field(default_factory=Op)


@dataclass(eq=False)
class StateLoaded(Event):
    """`load_state_dict` of a module, an optimizer, or something else that has it.

    Args:
        strict: the argument of that name; None where it was not given.
        result: the keys that it reports.
        missing: how many keys of a module were not in the state; None where no run has shown it.
        unexpected: how many keys of the state were not in the module.
        keys: how many keys the state had.
    """

    target: Value = field(default_factory=Value)
    state: Value = field(default_factory=Value)
    strict: Value | None = None
    result: Op = field(default_factory=Op)
    missing: int | None = None
    unexpected: int | None = None
    keys: int | None = None


@dataclass(eq=False)
class Moved(Event):
    """A module or tensor is moved to a device; `waits` is False where `non_blocking=True` is asked for."""

    what: Value = field(default_factory=Value)
    device: Value = field(default_factory=Value)
    waits: bool = True


@dataclass(eq=False)
class RequiresGrad(Event):
    """`requires_grad` is set: by `assignment`, or by `requires_grad_()` or a constructor's argument."""

    target: Value = field(default_factory=Value)
    wanted: Value = field(default_factory=Value)
    assignment: bool = True


@dataclass(eq=False)
class Accumulated(Event):
    """`total += value`, with `total` made before the loop: it lives on into the next round."""

    total: str = ""
    value: Value = field(default_factory=Value)
    result: Value = field(default_factory=Value)


@dataclass(eq=False)
class Escape(Event):
    """Something unknown is called with these values, and may do anything to them."""

    values: tuple[Value, ...] = ()
    tensors: tuple[Value, ...] = ()
    """What else it is given: the most that it may do with these is to run their backward."""


@dataclass(eq=False)
class LossCall(Event):
    """A loss is computed: by a loss of torch's, or by the program's own code that takes the log-softmax.

    Args:
        name: what the user calls it: `nn.CrossEntropyLoss`, `F.cross_entropy`, `LabelSmoothing`.
        function: the function of torch's that it comes down to, `cross_entropy`; `log_softmax` for the
            program's own.
        output: the loss itself; its inputs are the prediction and the target.
        built: the place where the loss object was made, where there is one.
    """

    name: str = ""
    function: str = ""
    output: Op = field(default_factory=Op)
    built: Place | None = None
    is_open: bool = False
    """Whether arguments were given that cannot be seen, by `**options`."""

    @property
    def input(self) -> Value | None:
        return self.output.option(0, "input") or self.output.options.get("inputs")

    @property
    def target(self) -> Value | None:
        return self.output.option(1, "target") or self.output.options.get("targets")

    def seen_as(self, what: str) -> tuple[Because, ...]:
        """The places where `what` (for example "probabilities reach") meets the loss, and where the loss is made."""
        here = Because(self.at, f"{what} {self.name} here")
        if self.built is None or self.built == self.at:
            return (here,)
        return (here, Because(self.built, f"{self.name} is created here"))

    def setting(self, name: str, default: object) -> Value | None:
        """An option such as `reduction`, of the call or of the loss object; None where it cannot be seen."""
        names = LOSS_SETTINGS.get(self.function, ())
        given = dict(zip(names, self.output.inputs[2:], strict=False)) | self.output.options
        if (owner := self.output.owner) is not None:
            given |= dict(zip(names, owner.args, strict=False)) | owner.options
        if name in given:
            return given[name]
        replacing = [given[old] for old in ("size_average", "reduce") if old in given]
        is_replaced = any(not isinstance(one, Constant) or one.value is not None for one in replacing)
        return None if self.is_open or is_replaced else Constant(value=default)


@dataclass(eq=False)
class LibraryCall(Event):
    """A library's function or class is used by a name that a table of the API knows.

    Args:
        name: the full dotted name, as imported.
        args: what it is given by position; `options`, by name.
        is_fallback: it stands where the program has tried, or asks for, something newer first.
        deprecated: what torch has replaced of the function, method or argument.
        receiver: for a method, what it is called on.
    """

    name: str = ""
    text: str = ""
    is_fallback: bool = False
    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    deprecated: Deprecated | None = None
    receiver: Value | None = None


@dataclass(eq=False)
class Called(Event):
    """A function of a library's that `torch_names.is_noted` knows is called, or a method of such a name.

    Args:
        name: the full dotted name of the function; the plain name of a method.
        args: positional arguments, the receiver first.
        is_open: arguments were given that cannot be seen, by `**options`.
        is_chosen: what is called may be another function: it was chosen elsewhere.
    """

    name: str = ""
    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    is_open: bool = False
    is_chosen: bool = False

    def argument(self, position: int, name: str) -> Value | None:
        if name in self.options:
            return self.options[name]
        return self.args[position] if position < len(self.args) else None


@dataclass(eq=False)
class Operation(Event):
    """One of the operations on tensors that `torch_api.ASKED` names.

    Args:
        function: the dotted name of the function or layer; empty for an operator, a method, and in a run.
    """

    output: Op = field(default_factory=Op)
    function: str = ""


@dataclass(eq=False)
class Attended(Event):
    """The result of a softmax, whatever was done to it since, weighs values in a product of matrices.

    Args:
        weights: what came of the softmax.
        output: the product.
    """

    weights: Value = field(default_factory=Value)
    output: Op = field(default_factory=Op)


@dataclass(eq=False)
class AttentionCall(Event):
    """A function or layer of torch's that attends is called: one of `torch_api.ATTENTION_MASKS`."""

    name: str = ""
    output: Op = field(default_factory=Op)
    is_open: bool = False

    def argument(self, position: int, name: str) -> Value | None:
        """An argument; None where it was not given, or is None."""
        found = self.output.option(position, name)
        return None if isinstance(found, Constant) and found.value is None else found


@dataclass(eq=False)
class Discarded(Event):
    """Nothing is done with the result of an operation that changes nothing.

    Args:
        name: the method or function.
        tensor: what it is called on or given.
        is_method: whether it is called as a method.
    """

    name: str = ""
    tensor: Value = field(default_factory=Value)
    is_method: bool = True
    text: str = ""


@dataclass(eq=False)
class AttributeSet(Event):
    """An attribute is set that looks like `requires_grad`, and that no code reads: or that one, on a layer of torch's."""

    target: Value = field(default_factory=Value)
    name: str = ""


@dataclass(eq=False)
class SettingChanged(Event):
    """A library's setting is assigned, such as `torch.backends.cudnn.benchmark`.

    Of an object of a library's, such as a dataset, the `transform` alone counts.
    """

    name: str = ""
    value: Value = field(default_factory=Value)


@dataclass(eq=False)
class ToHost(Event):
    """Numbers of a tensor are handed to Python: whoever asks waits until the device has computed them.

    Args:
        name: `item`, `tolist`, `numpy`, `cpu`, `float`, `int`, `print`, or the function of NumPy's that is given it.
        tensor: what the numbers are taken from.
        text: the expression, where it is read.
        module: the module in whose forward it happens.
        records: whether autograd watches; None where that is unknown.
        under: the undecided conditions inside that forward under which it happens.
    """

    name: str = ""
    tensor: Value = field(default_factory=Value)
    text: str = ""
    module: Object | None = None
    records: bool | None = True
    under: Guards = ()


@dataclass(eq=False)
class Drawn(Event):
    """A loader hands out a batch, in a loop over it or by `next`."""

    loader: Object = field(default_factory=Object)
    batch: Value = field(default_factory=Value)


@dataclass(eq=False)
class WorkersStart(Event):
    """What each worker process of a loader does first, by `worker_init_fn`; `worker` is the number it is given."""

    loader: Object = field(default_factory=Object)
    worker: Value = field(default_factory=Value)
    done: tuple[Called, ...] = ()


@dataclass(eq=False)
class ItemsMade(Event):
    """A loader is made over a dataset of the program's own, whose `__getitem__` uses these names.

    Args:
        by_index: whether it looks at the index that it is given.
    """

    loader: Object = field(default_factory=Object)
    names: frozenset[str] = frozenset()
    by_index: bool = True


@dataclass(eq=False)
class Batched(Event):
    """A loader is made whose batches are known: what the dataset's `__getitem__` and `collate_fn` make of one item."""

    loader: Object = field(default_factory=Object)
    batch: Value = field(default_factory=Value)


@dataclass(eq=False)
class Ignored(Event):
    """Labels are set to the value that losses ignore, where a condition holds: `labels[labels == 0] = -100`."""

    labels: Value = field(default_factory=Value)
    where: Value = field(default_factory=Value)


@dataclass(eq=False)
class PadIsEnd(Event):
    """The padding token of a tokenizer is made the same as its end-of-sequence token."""

    tokenizer: Value = field(default_factory=Value)


@dataclass(eq=False)
class Returned(Event):
    """The program's entry point hands a value to a caller that is not seen."""

    value: Value = field(default_factory=Value)


@dataclass(eq=False)
class ParametersRead(Event):
    """Gradients are read or parameters written by hand, past any optimizer.

    Args:
        of_gradients: whether it is gradients that are read or set; otherwise something is written in place.
    """

    target: Value = field(default_factory=Value)
    of_gradients: bool = True


@dataclass(eq=False)
class ParametersListed(Event):
    """The parameters of something are listed: it hands them on to whoever asked."""

    target: Value = field(default_factory=Value)


@dataclass(eq=False)
class ModuleChanged(Event):
    """A module's weights are replaced; `what` is the method that does it."""

    module: Value = field(default_factory=Value)
    what: str = ""


@dataclass(eq=False)
class RegisteredEarly(Event):
    """A submodule or parameter is set on a module before `nn.Module.__init__` has run."""

    module: Object = field(default_factory=Object)
    attribute: str = ""
