"""Whether gradients get from a loss through to trainable parameters, and what cuts them off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trainlint.facts.api.classes import LOADER, MODULE, PARAMETER
from trainlint.facts.api.gradients import CUTS, KEEPS_TENSORS, NO_GRADIENT, REBUILDS, WITH_INDICES
from trainlint.facts.api.losses import SCALING
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.api.operations import CREATES, FILLS, TENSORS_ALONE
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.holding import has_parameters, wants_gradient
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Guards,
    Items,
    Missing,
    Object,
    Op,
    Table,
    Unknown,
    Value,
    constant,
)


@dataclass(frozen=True)
class Attachment:
    """Whether a loss reaches trainable parameters.

    Args:
        attached: on some way it certainly does.
        uncertain: on some way nobody can say.
        cuts: operations at which a way that would reach parameters ends, the one nearest the loss first.
        unrecorded: outputs of modules with parameters that autograd was told not to record.
    """

    attached: bool = False
    uncertain: bool = False
    cuts: tuple[Op, ...] = ()
    unrecorded: tuple[Op, ...] = ()

    def __or__(self, other: Attachment) -> Attachment:
        """Of two things together."""
        if other is _NOTHING:
            return self
        return Attachment(
            self.attached or other.attached,
            self.uncertain or other.uncertain,
            _each_once((*self.cuts, *other.cuts)),
            _each_once((*self.unrecorded, *other.unrecorded)),
        )

    @property
    def is_starved(self) -> bool:
        """No way reaches parameters, and on some way one was cut off."""
        return not self.attached and not self.uncertain and self.is_cut

    @property
    def is_cut(self) -> bool:
        """Some way to parameters was cut off."""
        return bool(self.cuts or self.unrecorded)

    @property
    def is_nothing(self) -> bool:
        """No way leads anywhere near parameters, as far as is known."""
        return not self.attached and not self.is_cut


_NOTHING = Attachment()
_ATTACHED = Attachment(attached=True)
_UNCERTAIN = Attachment(uncertain=True)


def _each_once(operations: Iterable[Op]) -> tuple[Op, ...]:
    return tuple(dict.fromkeys(operations))


@question(start=_NOTHING, unknown=_UNCERTAIN)
def attachment(value: Value) -> Attachment:
    """How a loss, or one term of it, is connected to trainable parameters.

    A tensor whose gradient the program asks for counts as a parameter wherever it goes in. Of itself, what it was
    made of is asked: a loss does not get attached by `requires_grad_()`.
    """
    if not (isinstance(value, Op) and value.is_leaf):
        return _within(value, False)
    found = _by_itself(value, False)
    return _by_inputs(value, False) if found is None else found


@question(start=_NOTHING, unknown=_UNCERTAIN)
def _within(value: Value, at_first: bool) -> Attachment:
    """The same of a value that goes into another.

    Args:
        at_first: what variables hold before the loops that change them.
    """
    match value:
        case Object() if value.definition is not None and not value.is_a(MODULE):
            return _of_all([*value.args, *value.options.values()], at_first)
        case Constant() | Object():
            return _NOTHING
        case Op():
            found = _by_itself(value, at_first)
            if found is None:
                found = _ATTACHED if value.is_leaf else _by_inputs(value, at_first)
            return found
        case Carried() if at_first:
            return _within(value.start, at_first)
        case Choice():
            tensors = (
                option
                for guards, option in value.options
                if not isinstance(option, Missing) and not is_no_tensor(option, guards)
            )
            return _of_all(tensors, at_first)
        case Carried() | Items() | Table():
            return _of_all(value.parts(), at_first)
    return _UNCERTAIN


def is_no_tensor(value: Value, guards: Guards) -> bool:
    """Whether a value stands where the program has found that it is no tensor: `v = v.item() if torch.is_tensor(v) else v`."""
    return any(not outcome and _asks_for_tensor(condition) == value.uid for condition, outcome in guards)


def _asks_for_tensor(condition: object) -> int | None:
    """The number of the value of which a condition asks whether it is a tensor; None for any other."""
    match condition:
        case (
            "isinstance" | "builtins.isinstance",
            ("value" | "result", int(number)),
            ("library", "torch.Tensor"),
        ):
            return number
        case ("builtins.hasattr", ("value" | "result", int(number)), ("constant", str(name))):
            return number if name.strip("'") in TENSORS_ALONE else None
    return None


def _of_all(values: Iterable[Value], at_first: bool) -> Attachment:
    found = _NOTHING
    for one in values:
        found |= _within(one, at_first)
    return found


def _by_itself(op: Op, at_first: bool) -> Attachment | None:
    """How an operation is attached, where it is plain what it is; None where that follows from its inputs."""
    if op.attached is not None:
        return _ATTACHED if op.attached else _of_seen(op, at_first)
    if op.hung_on is not None:
        return _of_hung(op, op.hung_on, at_first)
    if op.name in (PARAMETER, "parameters"):
        return _ATTACHED
    if op.name == "call" and op.inputs and op.text.endswith(FILLS):
        return _within(op.inputs[0], at_first)  # a tensor whose numbers are others now
    if op.name.startswith(_NUMBERS) or (op.name == "call" and _is_text(op)):
        return _NOTHING
    if op.name in CREATES or op.name.removeprefix("builtins.") in NO_GRADIENT or is_index(op):
        return Attachment(attached=wants_gradient(op))
    if op.name == "output" and op.owner is not None:
        return _of_output(op, op.owner, at_first)
    if op.name == "grad":  # which has a graph only where `backward` was asked to create one
        return _UNCERTAIN
    return None


_NUMBERS = ("sklearn.metrics.", "os.", "pathlib.", "time.", "datetime.")
"""Libraries whose functions give numbers, texts and paths, and refuse what has a graph."""

_QUOTES = ("'", '"')


def _is_text(op: Op) -> bool:
    """Whether a call is a method of a text that stands in the program, or of what such a one gives: `" ".join(words).lower()`."""
    return any(
        isinstance(one, Op) and one.name == "call" and one.owner is None and one.text.startswith(_QUOTES)
        for one in (op, *op.inputs[:1])
    )


def _of_seen(op: Op, at_first: bool) -> Attachment:
    """A run has shown that no gradient gets to here: where does it end?"""
    if op.name in CREATES or op.name in NO_GRADIENT or op.name == PARAMETER or is_index(op):
        return _NOTHING
    if op.seen is not None and not op.seen.dtype.startswith(("float", "bfloat", "complex")):
        return _NOTHING
    inputs = replace(_of_all(op.parts(), at_first), uncertain=False)
    if op.records is False:
        is_model = op.name == "output" and (inputs.attached or bool(inputs.unrecorded))
        stopped = (op,) if inputs.attached or is_model else inputs.unrecorded
        return Attachment(cuts=inputs.cuts, unrecorded=stopped)
    if inputs.attached:
        return Attachment(cuts=(op,))
    return _rebuilt(op, inputs) if op.name in REBUILDS else inputs


def _rebuilt(op: Op, inputs: Attachment) -> Attachment:
    """What rebuilds a tensor from numbers stands for whatever took the numbers out."""
    named = _each_once(cut if cut.name in REBUILDS else op for cut in inputs.cuts)
    return replace(inputs, attached=False, cuts=named)


def _of_hung(op: Op, function: Value, at_first: bool) -> Attachment:
    """A tensor that a small framework hangs into the graph by itself: connected to the tensors that its gradient
    function was made of, or else to what its values come from."""

    def into(one: Value) -> Iterable[Value]:
        return one.parts() if isinstance(one, (Op, Items, Choice)) and not _is_given(one) else ()

    given = [*function.args, *function.options.values()] if isinstance(function, Object) else []
    begin = [one for one in given if isinstance(one, (Op, Items, Choice))] or op.inputs
    found = _of_all((one for one in reached(begin, into) if _is_given(one)), at_first)
    return found if found.cuts and not found.attached else _ATTACHED


def _is_given(value: Value) -> bool:
    return isinstance(value, Op) and value.name in ("Tensor", "output", "framework")


def _of_output(op: Op, owner: Object, at_first: bool) -> Attachment:
    """What a module gave: attached if it has parameters, unless its own code cuts it off or it is not recorded."""
    inside = _of_all(op.inputs[:1], at_first)
    trainable = has_parameters(owner)
    if op.records is False:
        return Attachment(unrecorded=(op,) if trainable else (), uncertain=trainable is None)
    if not inside.is_nothing or not inside.uncertain or _is_of_library(op.inputs[0], at_first):
        return inside
    return Attachment(attached=trainable is True, uncertain=trainable is not True)


def _is_of_library(value: Value, at_first: bool) -> bool:
    """Whether a function of a library, which has no parameters of its own, makes something of what certainly has no graph:
    the error rate of two texts, which is no loss, though a module gives it."""
    if not isinstance(value, Op) or value.owner is not None or "." not in value.name:
        return False
    given = _of_inputs(value, at_first)
    return given.is_nothing and not given.uncertain


def _by_inputs(op: Op, at_first: bool) -> Attachment:
    if op.records is False and op.in_place and op.inputs:
        return _within(op.inputs[0], at_first)  # `weights += noise` leaves the tensor the leaf that it was
    inputs = _of_inputs(op, at_first)
    if op.records is not True:
        stopped = (op,) if inputs.attached else inputs.unrecorded
        is_open = op.records is None or (not inputs.attached and _is_unseen_of_module(op))
        return Attachment(cuts=inputs.cuts, unrecorded=stopped, uncertain=is_open)
    if op.name == "iterate" and not _is_of_module(op):
        return replace(inputs, uncertain=inputs.uncertain and inputs.attached)
    if wants_gradient(op) and _of_inputs(op, at_first=True).is_nothing:
        return _ATTACHED
    if cuts(op):
        return _of_cut(op, inputs)
    if op.name in REBUILDS and not inputs.attached:
        return _rebuilt(op, inputs)
    return _with_what_it_brings(op, inputs)


def _is_unseen_of_module(op: Op) -> bool:
    """Whether it is what a module gave that was not followed: the one that should have a graph, or not."""
    return op.name == "call" and op.owner is not None and op.owner.is_a(MODULE)


def _of_cut(op: Op, inputs: Attachment) -> Attachment:
    """Certainly not attached. What was cut off before counts, unless code that is not known has made something of it,
    as an environment does of an action: that would have no gradient anyway."""
    if inputs.attached:
        return Attachment(cuts=(op,))
    if op.name in REBUILDS:
        inputs = replace(inputs, cuts=()) if inputs.uncertain else _rebuilt(op, inputs)
    return replace(inputs, uncertain=False)


def _with_what_it_brings(op: Op, inputs: Attachment) -> Attachment:
    """Also the parameters that come in with the object or the library that does an operation."""
    is_forward = op.owner is not None and op.owner.is_a(MODULE) and op.name != "call"
    if op.owner is not None and (is_forward or op.name == "framework"):
        trainable = has_parameters(op.owner)
        is_sure = is_forward and trainable is True  # whatever it was given
        return replace(
            inputs,
            attached=inputs.attached or trainable is True,
            uncertain=not is_sure and (inputs.uncertain or trainable is None),
        )
    if op.name.startswith(_OF_ARRAYS):
        return replace(inputs, attached=False, uncertain=inputs.uncertain or inputs.attached)
    if op.name in ("call", "getattr") or ("." in op.name and not _is_plain(op.name)):
        is_number = _is_of_batch(op) or constant(op.options.get("name")) == _WEIGHTS
        return replace(inputs, uncertain=inputs.uncertain or (bool(op.inputs) and not is_number))
    return inputs


def _of_inputs(op: Op, at_first: bool) -> Attachment:
    """Of what an operation is given, and hands gradients on to: not of sizes, devices and indices."""
    if op.name not in KEEPS or not op.inputs:
        return _of_all(op.parts(), at_first)
    found = _within(op.inputs[0], at_first)
    index = op.options.get("index")
    if found.attached and index is not None:
        hidden = _is_hidden(op.inputs[0], at_first) or _within(index, at_first).uncertain
        return replace(found, uncertain=found.uncertain or hidden)
    return found


def _is_hidden(value: Value, at_first: bool) -> bool:
    """Whether it is not seen what a module gives: of several things, some may be without a gradient."""
    if not (isinstance(value, Op) and value.name == "output" and value.inputs):
        return False
    inside = _within(value.inputs[0], at_first)
    return inside.uncertain and not inside.attached


_WEIGHTS = "weight_dict"
"""The attribute in which criterions of detectors hold the weights of their losses, which are numbers."""

_PLAIN = ("torch.", "math.", "builtins.")
_OF_TENSORS = (
    *(f"einops.{name}" for name in ("rearrange", "reduce", "repeat", "einsum", "pack", "unpack")),
    "kornia.filters.",
    "kornia.color.",
    "kornia.geometry.transform.",
    "ptwt.",
    "torchaudio.functional.",
    "torchvision.transforms.functional.",
    "torchvision.transforms.v2.functional.",
)
_OF_ARRAYS = ("numpy.", "sklearn.")
"""Libraries whose functions do not bring in trainable parameters of their own; the latter may cut off what they are given."""


def _is_plain(name: str) -> bool:
    """Whether a function has no parameters of its own, and hands gradients on."""
    return name.startswith(_PLAIN) or (name.startswith(_OF_TENSORS) and name.rpartition(".")[2].islower())


def is_index(op: Op) -> bool:
    """The indices that `max(dim)`, `topk` and the like give beside their values."""
    match op:
        case Op(name="getitem", inputs=(Op(name=name, inputs=(_, *_)), *_)) if name in WITH_INDICES:
            index = op.options.get("index")
            return isinstance(index, Constant) and index.value == 1
        case Op(name="getattr"):
            attribute = op.options.get("name")
            return isinstance(attribute, Constant) and attribute.value == "indices"
    return False


def _is_of_batch(op: Op) -> bool:
    """Whether it is an attribute of what a loader has given, such as `batch.labels`."""
    value: Value = op
    while isinstance(value, Op) and value.inputs and (value.name == "getattr" or value.name in KEEPS):
        value = value.inputs[0]
    match value:
        case Op(name="iterate", inputs=(Object() as loader,)):
            return op.name == "getattr" and loader.is_a(LOADER)
    return False


def _is_of_module(op: Op) -> bool:
    """Whether it goes through what a module has been given by code that is not seen: `for one in policy.saved_log_probs`."""
    match op.inputs:
        case (Op(name="getattr", inputs=(Object() as holder, *_)), *_):
            return holder.is_a(MODULE)
    return False


def cuts(op: Op) -> bool:
    """Whether no gradient passes through an operation that rebuilds or reads out its input."""
    if op.name in REBUILDS and op.name not in CUTS:
        return bool(op.inputs) and isinstance(op.inputs[0], Items)
    return op.name in CUTS or (op.name.startswith("math.") and op.name not in KEEPS_TENSORS)


def terms(loss: Value) -> tuple[Value, ...]:
    """The summands of a loss, through sums, means, weights, scaling and branches, each once."""
    every = reached([loss], lambda one: reversed(_summands(one)))
    return tuple(one for one in every if not _summands(one))


def _summands(loss: Value) -> Sequence[Value]:
    """What a loss is directly the sum of, but for factors; nothing where it is no sum."""
    match loss:
        case Op(name="output", owner=Object(), inputs=(inner, *_)):
            return (inner,)
        case Op(name="scale", inputs=(inner, *_)) | Op(name="-", inputs=(inner,)):
            return (inner,)
        case Op(name="+" | "-" | "add", inputs=(_, _)) | Op(name="sum", inputs=(_, _, *_)):
            return loss.inputs
        case Op(name="mean" | "sum", inputs=(Op(name="stack" | "cat", inputs=(Items() as each, *_)),)):
            return each.items
        case Op(name=name, inputs=(inner, weight)) if name in SCALING and _is_weight(weight):
            return (inner,)
        case Op(name=name, inputs=(weight, inner)) if name in SCALING and _is_weight(weight):
            return (inner,)
        case Choice() if all(guards for guards, _ in loss.options):  # else it is any one of several
            return loss.parts()
    return ()


def _is_weight(value: Value) -> bool:
    match value:
        case Constant() | Unknown() | Op(name="getattr"):
            return True
        case Op() if value.name in REBUILDS:
            numbers = all(isinstance(one, (Constant, Unknown)) for one in value.inputs)
            return numbers and not wants_gradient(value) and not value.is_leaf
    return False


def has_attached_input(op: Op) -> bool:
    return any(attachment(inner).attached for inner in op.inputs)


def has_graph(value: Value) -> bool:
    """Whether a value holds what an operation on trainable parameters gave, and not the parameters alone."""
    return any(
        isinstance(one, Op)
        and one.name not in (*_HAND_OUT, PARAMETER, "parameters")
        and attachment(one).attached
        for one in reached([value], _handed_out)
    )


_HAND_OUT = ("getitem", "iterate", "items")
"""Operations that give what their first input holds."""


def _handed_out(value: Value) -> Sequence[Value]:
    if not isinstance(value, Op):
        return value.parts()
    return value.inputs[:1] if value.name in _HAND_OUT else ()
