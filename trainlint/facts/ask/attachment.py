"""Whether gradients get from a loss through to trainable parameters, and what cuts them off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from trainlint.facts.api import torch_api as api
from trainlint.facts.model.values import Carried, Choice, Constant, Items, Object, Op, Table, Unknown, Value

_MAX_DEPTH = 200
"""How many operations a gradient is followed through; beyond, nobody can say."""
_SETTLED = _MAX_DEPTH + 2
"""Deeper than any walk."""


@dataclass
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
    cuts: list[Op] = field(default_factory=list)
    unrecorded: list[Op] = field(default_factory=list)

    def add(self, other: Attachment) -> None:
        self.attached = self.attached or other.attached
        self.uncertain = self.uncertain or other.uncertain
        self.cuts.extend(cut for cut in other.cuts if cut not in self.cuts)
        self.unrecorded.extend(op for op in other.unrecorded if op not in self.unrecorded)

    @property
    def is_starved(self) -> bool:
        """No way reaches parameters, and on some way one was cut off."""
        return not self.attached and not self.uncertain and bool(self.cuts or self.unrecorded)


def terms(loss: Value, depth: int = 0) -> Iterator[Value]:
    """The summands of a loss, through sums, means, weights, scaling and branches."""
    if depth > 12:
        yield loss
        return
    match loss:
        case Op(name="scale" | "output") | Op(name="-", inputs=(_,)) if loss.inputs:
            yield from terms(loss.inputs[0], depth + 1)
        case Op() if loss.name in ("+", "-", "add") and len(loss.inputs) == 2:
            yield from terms(loss.inputs[0], depth + 1)
            yield from terms(loss.inputs[1], depth + 1)
        case Op(name="sum", inputs=(_, _, *_)):
            for one in loss.inputs:
                yield from terms(one, depth + 1)
        case Op() if loss.name in api.SCALING and len(loss.inputs) == 2 and _is_weight(loss.inputs[1]):
            yield from terms(loss.inputs[0], depth + 1)
        case Op() if loss.name in api.SCALING and len(loss.inputs) == 2 and _is_weight(loss.inputs[0]):
            yield from terms(loss.inputs[1], depth + 1)
        case Choice():
            for _, option in loss.options:
                yield from terms(option, depth + 1)
        case _:
            yield loss


def _is_weight(value: Value) -> bool:
    return isinstance(value, (Constant, Unknown)) or (isinstance(value, Op) and value.name == "getattr")


def attachment(value: Value) -> Attachment:
    """How a loss, or one term of it, is connected to trainable parameters. Worked out once for a value."""
    known: Attachment | None = value.__dict__.get("_attachment")
    if known is None:
        known = value.__dict__["_attachment"] = _Walk().attachment(value)
    return known


class _Walk:
    """A walk back from one value. What it finds of a value that does not go into itself is kept for other walks."""

    def __init__(self) -> None:
        self._known: dict[int, Attachment] = {}
        self._depth = 0
        self._outermost: dict[int, int] = {}
        """Of values that are not settled: at which depth the walk is that their answer waits for."""
        self._waits_for = _SETTLED
        """The same for the value at work, as far as it has been looked at."""

    def attachment(self, value: Value) -> Attachment:
        known = self._known.get(value.uid)
        if known is not None:
            self._waits_for = min(self._waits_for, self._outermost.get(value.uid, _SETTLED))
            return known
        is_leaf = isinstance(value, Op) and value.is_leaf  # what it is depends on where the walk began
        if self._depth and not is_leaf:
            settled: Attachment | None = value.__dict__.get("_attachment")
            if settled is not None:
                return settled
        known = self._known[value.uid] = Attachment()
        self._depth += 1
        outer, self._waits_for = self._waits_for, _SETTLED
        self._outermost[value.uid] = self._depth
        if self._depth > _MAX_DEPTH:
            known.uncertain = True
            self._waits_for = 0
        else:
            known.add(self._of(value))
        if self._waits_for < self._depth:
            self._outermost[value.uid] = self._waits_for
        else:
            self._waits_for = _SETTLED
            del self._outermost[value.uid]
            if not is_leaf:
                value.__dict__["_attachment"] = known
        self._waits_for = min(outer, self._waits_for)
        self._depth -= 1
        return known

    def _of(self, value: Value) -> Attachment:
        match value:
            case Object() if value.definition is not None and not value.is_a(api.MODULE):
                return self._any_of([*value.args, *value.options.values()])
            case Constant() | Object():
                return Attachment()
            case Op():
                return self._of_op(value)
            case Choice():
                return self._any_of([option for _, option in value.options])
            case Carried():
                return self._any_of([one for one in (value.start, value.back) if one is not None])
            case Items():
                return self._any_of(value.items)
            case Table():
                return self._any_of([*value.entries.values(), *value.others])
        return Attachment(uncertain=True)

    def _any_of(self, values: list[Value]) -> Attachment:
        found = Attachment()
        for one in values:
            found.add(self.attachment(one))
        return found

    def _of_seen(self, op: Op) -> Attachment:
        """A run has shown that no gradient gets to here: where does it end?"""
        if op.name in api.CREATES or op.name in api.NO_GRADIENT or op.name == api.PARAMETER or _is_index(op):
            return Attachment()
        if op.seen is not None and not op.seen.dtype.startswith(("float", "bfloat", "complex")):
            return Attachment()
        inputs = self._any_of([*op.inputs, *op.options.values()])
        inputs.uncertain = False
        if op.records is False:
            is_model = op.name == "output" and (inputs.attached or bool(inputs.unrecorded))
            stopped = [op] if inputs.attached or is_model else inputs.unrecorded
            return Attachment(cuts=inputs.cuts, unrecorded=stopped)
        if inputs.attached:
            return Attachment(cuts=[op])
        if op.name in api.REBUILDS and inputs.cuts:
            named = [cut if cut.name in api.REBUILDS else op for cut in inputs.cuts]
            return Attachment(cuts=list(dict.fromkeys(named)), unrecorded=inputs.unrecorded)
        return inputs

    def _of_op(self, op: Op) -> Attachment:
        if op.attached is not None:
            return Attachment(attached=True) if op.attached else self._of_seen(op)
        if op.hung_on is not None:
            return self._of_hung(op, op.hung_on)
        if op.name in (api.PARAMETER, "parameters"):
            return Attachment(attached=True)
        if op.name in api.CREATES or op.name.removeprefix("builtins.") in api.NO_GRADIENT or _is_index(op):
            return Attachment(attached=_wants_gradient(op))
        if op.name == "output":
            return self._of_output(op)
        if op.is_leaf and self._depth > 1:
            return Attachment(attached=True)
        inputs = self._of_inputs(op)
        if op.records is not True:
            stopped = [op] if inputs.attached else inputs.unrecorded
            return Attachment(
                cuts=inputs.cuts, unrecorded=stopped, uncertain=inputs.uncertain or op.records is None
            )
        if op.name == "iterate":
            inputs.uncertain = inputs.uncertain and inputs.attached
            return inputs
        is_fresh = not (inputs.attached or inputs.cuts or inputs.unrecorded)
        if is_fresh and _wants_gradient(op):
            return Attachment(attached=True)
        if op.name in api.REBUILDS and not inputs.attached and inputs.cuts:
            named = [cut if cut.name in api.REBUILDS else op for cut in inputs.cuts]
            return Attachment(
                cuts=list(dict.fromkeys(named)), unrecorded=inputs.unrecorded, uncertain=inputs.uncertain
            )
        if cuts(op):
            if inputs.attached:
                return Attachment(cuts=[op])
            if inputs.cuts or inputs.unrecorded:
                return Attachment(cuts=inputs.cuts, unrecorded=inputs.unrecorded)
            return Attachment()
        is_forward = op.owner is not None and op.owner.is_a(api.MODULE) and op.name != "call"
        if op.owner is not None and (is_forward or op.name == "framework"):
            trainable = has_parameters(op.owner)
            inputs.attached = inputs.attached or trainable is True
            is_sure = is_forward and trainable is True  # whatever it was given
            inputs.uncertain = not is_sure and (inputs.uncertain or trainable is None)
        elif op.name.startswith("numpy."):
            inputs.uncertain, inputs.attached = inputs.uncertain or inputs.attached, False
        elif op.name in ("call", "getattr") or ("." in op.name and not op.name.startswith(_PLAIN)):
            inputs.uncertain = inputs.uncertain or (bool(op.inputs) and not _is_of_batch(op))
        return inputs

    def _of_inputs(self, op: Op) -> Attachment:
        """Of what an operation is given, and hands gradients on to: not of sizes, devices and indices."""
        if op.name not in api.KEEPS or not op.inputs:
            return self._any_of([*op.inputs, *op.options.values()])
        found = self._any_of([op.inputs[0]])
        index = op.options.get("index")
        if found.attached and index is not None:
            hidden = self._is_hidden(op.inputs[0]) or self.attachment(index).uncertain
            found.uncertain = found.uncertain or hidden
        return found

    def _is_hidden(self, value: Value) -> bool:
        """Whether it is not seen what a module gives: of several things, some may be without a gradient."""
        if not (isinstance(value, Op) and value.name == "output"):
            return False
        inside = self.attachment(value.inputs[0])
        return inside.uncertain and not inside.attached

    def _of_hung(self, op: Op, function: Value) -> Attachment:
        """A tensor that a small framework hangs into the graph by itself: connected to the tensors that its gradient
        function was made of, or else to what its values come from."""
        found = Attachment()
        given = [*function.args, *function.options.values()] if isinstance(function, Object) else []
        pending: list[Value] = [one for one in given if isinstance(one, (Op, Items, Choice))]
        pending = pending or list(op.inputs)
        seen: set[int] = set()
        while pending and len(seen) < _MAX_DEPTH:
            one = pending.pop()
            if one.uid in seen:
                continue
            seen.add(one.uid)
            match one:
                case Op(name="Tensor" | "output" | "framework"):
                    found.add(self.attachment(one))
                case Op() | Items() | Choice():
                    pending.extend(one.parts())
        return found if found.cuts and not found.attached else Attachment(attached=True)

    def _of_output(self, op: Op) -> Attachment:
        """What a module gave: attached if it has parameters, unless its own code cuts it off or it is not recorded."""
        inside = self.attachment(op.inputs[0])
        assert op.owner is not None
        trainable = has_parameters(op.owner)
        if op.records is False:
            return Attachment(unrecorded=[op] if trainable else [], uncertain=trainable is None)
        if inside.attached or inside.cuts or inside.unrecorded or not inside.uncertain:
            return inside
        return Attachment(attached=trainable is True, uncertain=trainable is not True)


_PLAIN = ("torch.", "math.", "builtins.")
"""Libraries whose functions do not bring in trainable parameters of their own."""


def _is_index(op: Op) -> bool:
    """The indices that `max(dim)`, `topk` and the like give beside their values."""
    match op:
        case Op(name="getitem", inputs=(Op(name=name, inputs=(_, *_)), *_)) if name in api.WITH_INDICES:
            index = op.options.get("index")
            return isinstance(index, Constant) and index.value == 1
        case Op(name="getattr"):
            attribute = op.options.get("name")
            return isinstance(attribute, Constant) and attribute.value == "indices"
    return False


def _is_of_batch(op: Op) -> bool:
    """Whether it is an attribute of what a loader has given, such as `batch.labels`."""
    value: Value = op
    while isinstance(value, Op) and value.inputs and (value.name == "getattr" or value.name in api.KEEPS):
        value = value.inputs[0]
    match value:
        case Op(name="iterate", inputs=(Object() as loader,)):
            return op.name == "getattr" and loader.is_a(api.LOADER)
    return False


def cuts(op: Op) -> bool:
    """Whether no gradient passes through an operation that rebuilds or reads out its input."""
    if op.name in api.REBUILDS and op.name not in api.CUTS:
        return bool(op.inputs) and isinstance(op.inputs[0], Items)
    return op.name in api.CUTS


def has_parameters(module: Object, depth: int = 0) -> bool | None:
    """Whether a module holds trainable parameters; None where that cannot be seen."""
    name = module.type.removeprefix("torch.nn.")
    if module.type.startswith("torch.nn."):
        if name in api.WITH_PARAMETERS:
            return True
        if module.type not in api.CONTAINERS:
            is_known = name[:1].isupper() and not name.startswith(("Lazy", "InstanceNorm", "Module"))
            return False if is_known else None
    elif module.definition is None:
        return True if module.is_a(api.MODULE) else None
    if depth > 8:
        return None
    unknown = False
    for value in module.attributes.values():
        for one in contents(value):
            match one:
                case Op(name="torch.nn.Parameter"):
                    return True
                case Object() if one is not module and one.is_a(api.MODULE):
                    inner = has_parameters(one, depth + 1)
                    if inner:
                        return True
                    unknown = unknown or inner is None
                case Unknown():
                    unknown = True
                case Op(name="Tensor") if _wants_gradient(one) or not module.is_a(api.MODULE):
                    return True
                case Object() if (
                    one is not module and not module.is_a(api.MODULE) and has_parameters(one, depth + 1)
                ):
                    return True
    return None if unknown else False


def _wants_gradient(op: Op) -> bool:
    wants = op.options.get("requires_grad")
    return isinstance(wants, Constant) and wants.value is True


def contents(value: Value, depth: int = 0) -> Iterator[Value]:
    inner: list[Value] = []
    match value:
        case Items():
            inner = value.items
        case Table():
            inner = [*value.entries.values(), *value.others]
        case Choice():
            inner = [option for _, option in value.options]
        case _:
            yield value
    if depth < 4:
        for one in inner:
            yield from contents(one, depth + 1)


def starving(loss: Value) -> list[Op]:
    """The operations that cut a whole term of a loss off from every trainable parameter."""
    return [cut for term in _starved(loss) for cut in term.cuts]


def unrecorded(loss: Value) -> list[Op]:
    """The operations that a term of a loss depends on and that autograd did not record."""
    return [op for term in _starved(loss) if not term.cuts for op in term.unrecorded]


def _starved(loss: Value) -> Iterator[Attachment]:
    summed = list(terms(loss))
    for term in summed:
        found = attachment(term)
        if found.is_starved and not any(_faces(other, term) for other in summed):
            yield found


def _faces(other: Value, term: Value) -> bool:
    """Whether two terms are the halves of one, each of which holds one side still: `mse(x.detach(), q)` beside
    `mse(x, q.detach())`, where `q` may be moved by other means."""
    if not (isinstance(other, Op) and isinstance(term, Op) and other.name == term.name):
        return False
    still = [one for one in term.inputs if isinstance(one, Op) and cuts(one)]
    return len(still) == 1 and still[0].inputs[0] in other.inputs


def has_attached_input(op: Op) -> bool:
    return any(attachment(inner).attached for inner in op.inputs)


def has_graph(value: Value) -> bool:
    """Whether a value holds what an operation on trainable parameters gave, and not the parameters alone."""
    pending: list[Value] = [value]
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        if one.uid in seen:
            continue
        seen.add(one.uid)
        if not isinstance(one, Op):
            pending.extend(one.parts())
        elif one.name in ("getitem", "iterate", "items"):
            pending.extend(one.inputs[:1])
        elif one.name not in (api.PARAMETER, "parameters") and attachment(one).attached:
            return True
    return False


def is_prediction(value: Value) -> bool:
    """Whether a tensor certainly comes out of trainable parameters."""
    return attachment(value).attached
