from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.api.operations import CREATES
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.loaders import comes_from_loader
from trainlint.facts.model.events.calls import AttributeSet
from trainlint.facts.model.values import Items, Object, Op, Value, constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(AttributeSet, level="error", confidence="likely", by="S", words=r"\w*req\w*g\w?r\w*d\w*")
def check(attribute: AttributeSet) -> Iterator[Finding]:
    is_module = isinstance(attribute.target, Object) and attribute.target.is_a(MODULE)
    may_be_module = is_module or _may_be_part(attribute.target)
    wanted = "requires_grad_(…)" if may_be_module else "requires_grad"
    if attribute.name.startswith("_"):
        return  # a note of the program's own, such as transformers' `_requires_grad`
    if is_module or not isinstance(attribute.target, Object):
        what = (
            f"this replaces the method `{attribute.name}` of the module by a value that nothing reads"
            if is_module and attribute.name == "requires_grad_"
            else f"there is no attribute `{attribute.name}`: Python creates a new one that nothing reads"
        )
        wants = constant(attribute.value)
        is_without = (
            is_module and isinstance(attribute.target, Object) and has_parameters(attribute.target) is False
        )
        is_so_anyway = wants is False and _is_fresh(attribute.target)
        is_unasked = wants is True and _is_of_batch(attribute.target)  # who asks for it gets an exception
        so = (
            "nothing changes: a new tensor does not require grad"
            if is_so_anyway
            else "nothing changes: it has no parameters"
            if is_without
            else "a batch without gradients trains a model just as well"
            if is_unasked
            else "gradients are computed as before"
        )
        yield Finding(
            attribute.at,
            f"{what}, and {so}. Use `{wanted}`.",
            level="info" if is_so_anyway or is_without or is_unasked else None,
            clues={
                "name": attribute.name,
                "of_module": may_be_module,
                "of_tensor": isinstance(attribute.target, Op),
            },
        )


def _may_be_part(value: Value) -> bool:
    """Whether something may be a layer of a module whose layers are not in sight, as the head of a model of torchvision."""
    if isinstance(value, Op) and constant(value.options.get("name")) in _NAMES_OF_PARAMETERS:
        return False
    while isinstance(value, Op) and value.name in ("getattr", "getitem", "iterate") and value.inputs:
        value = value.inputs[0]
    if isinstance(value, Op):
        return value.name in _LISTS_OF_LAYERS
    return isinstance(value, Object) and value.is_a(MODULE)


_NAMES_OF_PARAMETERS = ("weight", "bias")
_LISTS_OF_LAYERS = frozenset("children modules named_children named_modules".split())


@question(start=True, unknown=False)
def _is_fresh(value: Value) -> bool:
    """Whether a tensor was just made, of no other: `arange(n)`, or an axis of a grid of such."""
    while isinstance(value, Op) and (value.name in KEEPS or value.name == "iterate") and value.inputs:
        value = value.inputs[0]
    if isinstance(value, Op) and value.name == "meshgrid":
        given = [one for part in value.inputs for one in (part.items if isinstance(part, Items) else [part])]
        return bool(given) and all(map(_is_fresh, given))
    return isinstance(value, Op) and value.name in CREATES


def _is_of_batch(value: Value) -> bool:
    """Whether a tensor comes out of what a loop over batches goes through."""
    while isinstance(value, Op) and value.name in KEEPS and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Op) and value.name == "iterate" and comes_from_loader(value)
