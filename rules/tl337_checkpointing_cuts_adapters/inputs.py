"""Whether what goes into a checkpoint certainly requires no gradient."""

from collections.abc import Iterable, Mapping

from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.contents import contents
from trainlint.facts.ask.freezing import is_frozen
from trainlint.facts.ask.holding import has_parameters, wants_gradient
from trainlint.facts.model.events.forwards import Checkpointed
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Table, Unknown, Value

_MOST = 2000
"""Values that are looked at behind one input."""


def without_gradient_by_number(events: Iterable[Checkpointed]) -> dict[int, Checkpointed]:
    """The reentrant calls by the numbers of what they give: that has a gradient only if an input has one."""
    return {one.uid: event for event in events for one in contents(event.output)}


def are_without_gradient(training: Training, event: Checkpointed, known: Mapping[int, Checkpointed]) -> bool:
    """Whether no input of a checkpoint requires a gradient; those inside of tuples and dicts never count."""
    tensors = [one for one in event.inputs if not isinstance(one, (Items, Table))]

    def into(value: Value) -> Iterable[Value]:
        if value.uid in known:
            return known[value.uid].inputs
        return () if isinstance(value, Op) and _is_data(value) else value.parts()

    behind = list(reached(tensors, into, _MOST))
    return len(behind) < _MOST and all(one.uid in known or not _may_require(training, one) for one in behind)


def _is_data(op: Op) -> bool:
    found = attachment(op)
    return not (op.is_leaf or wants_gradient(op) or found.attached or found.uncertain)


def _may_require(training: Training, value: Value) -> bool:
    """Whether a value may bring in a gradient of its own, beside those of what it is made of."""
    if not isinstance(value, Op):
        return isinstance(value, Unknown)
    if _is_data(value):
        return False
    if value.is_leaf or wants_gradient(value) or value.hung_on is not None:
        return True
    if value.name in (PARAMETER, "parameters", "call", "getattr"):
        return True
    if value.name == "output":
        return False  # what its module did stands behind it
    if isinstance(value.owner, Object) and value.owner.is_a(MODULE):
        return has_parameters(value.owner) is not False and not is_frozen(training, value.owner)
    return value.owner is not None or ("." in value.name and not value.name.startswith("torch."))
