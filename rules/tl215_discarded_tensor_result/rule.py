import re
from collections.abc import Iterator

from trainlint.facts.api.layers import EMBEDDING, MAKES_ANOTHER
from trainlint.facts.api.operations import FRESH, OUT_OF_PLACE, UNMISTAKABLE
from trainlint.facts.ask.devices import device_types
from trainlint.facts.ask.host import is_born_on_host
from trainlint.facts.ask.loaders import comes_from_loader
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.operations import Discarded
from trainlint.facts.model.values import Object, Op, Value, constant
from trainlint.finding import Finding
from trainlint.rule import rule

MAKES_NEW = frozenset(("+", "-", "*", "/", "@", "lerp", "mul", "add", "sub", "div", "where", "sign", "round"))
"""Operations of which the result is another tensor, whatever they are called on."""
_STAYS = frozenset(
    "+ - * / clamp clip contiguous expand flatten float getitem half long permute reshape squeeze transpose unsqueeze view".split()
)
"""Operations of which the result is where their first input is."""
_TENSORS = re.compile(
    r"(?:images?|imgs?|pixel_values|videos?|audios?|waveforms?|mels?|masks?|labels?|targets?|(?:input|token_type|position)_ids|"
    r"attention_mask)(?:_\d)?",
    re.IGNORECASE,
)
"""What the entries of a batch are called that are tensors, and no encodings or graphs, which `to` moves in place."""


@rule(Discarded, level="warning", confidence="likely", by="S")
def check(discarded: Discarded) -> Iterator[Finding]:
    if discarded.name in MAKES_ANOTHER:
        of = discarded.tensor
        kind = "layer" if isinstance(of, Object) and of.is_a(EMBEDDING) else "model"
        yield Finding(
            discarded.at,
            f"`{discarded.text}` returns a new {kind} and does not change this one, and the result is "
            "discarded: the pretrained weights are never used. Assign the result.",
        )
        return
    if discarded.name == "replace":
        yield Finding(
            discarded.at,
            f"`{discarded.text}` returns a new record and does not change this one, and the result is discarded: the line "
            "has no effect. Assign the result.",
            confidence="certain",
        )
        return
    if _is_to_host(discarded) and is_born_on_host(discarded.tensor):
        return  # where it is
    if _only_wakes(discarded) or _is_there_already(discarded):
        return
    if discarded.kept_in:
        yield from _kept(discarded)
        return
    is_certain = not discarded.is_method or discarded.name in UNMISTAKABLE or is_tensor(discarded.tensor)
    if is_certain or (discarded.name in ("to", "cuda") and is_part_of_batch(discarded.tensor)):
        is_moved = discarded.name in ("to", "cuda")
        yield Finding(
            discarded.at,
            f"`{discarded.text}` returns a new tensor and does not change this one, and the result is "
            "discarded: the line has no effect. Assign the result"
            + (", or remove the line if nothing needs it." if is_moved else "."),
            confidence=None if is_certain else "likely",
            doubt="" if is_certain else "this part of the batch may be no tensor",
        )


def _kept(discarded: Discarded) -> Iterator[Finding]:
    """A variable of a loop gets a new tensor, and nothing reads it."""
    name, made = discarded.kept_in, discarded.made
    if not isinstance(made, Op) or made.name not in MAKES_NEW | OUT_OF_PLACE:
        return
    if is_parameter_of(discarded.tensor):
        yield Finding(
            discarded.at,
            f"This binds `{name}` to a new tensor, which nothing reads: what the loop goes through stays as it is. Write "
            f"into it instead, with `{name}.copy_(…)` or an in-place operation under `no_grad`.",
        )
    elif made.name in ("to", "cuda", "float") and is_of_batch(discarded.tensor):
        yield Finding(
            discarded.at,
            f"This binds `{name}` to a new tensor, which nothing reads: the batch stays as it is. Put the result back, as in "
            f"`batch = {{key: value.to(device) for key, value in batch.items()}}`.",
            confidence="likely",
            doubt="this part of the batch may be no tensor",
        )


def is_parameter_of(value: Value) -> bool:
    """Whether a value is one of the parameters that a loop goes through, with or without their names, or beside others."""
    while isinstance(value, Op) and value.name in ("getitem", "iterate") and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Op) and value.name == "parameters"


def is_of_batch(value: Value) -> bool:
    """Whether a value is one of those that a loop over `batch.items()` or `batch.values()` goes through."""
    match value:
        case Op(name="getitem", inputs=(Op(name="iterate") as pair, *_)):
            value = pair
    match value:
        case Op(name="iterate", inputs=(Op(name="call", inputs=(Op(name="iterate") as drawn,)) as parts,)):
            return parts.text.endswith((".items(…)", ".values(…)")) and comes_from_loader(drawn)
    return False


def _is_to_host(discarded: Discarded) -> bool:
    found = device_types(discarded.device) if discarded.device is not None else ()
    return discarded.name == "cpu" or (bool(found) and all(kind == "cpu" for _, kind in found))


def _only_wakes(discarded: Discarded) -> bool:
    """Whether a tensor is made and sent to a device in one expression, and nobody holds it: `torch.ones(1).cuda()` is there to
    initialise the device."""
    made = discarded.tensor
    if discarded.name not in ("to", "cuda") or not isinstance(made, Op) or not made.text:
        return False
    return made.name in FRESH | {"tensor", "Tensor"} and discarded.text.startswith(made.text + ".")


def _is_there_already(discarded: Discarded) -> bool:
    """Whether a tensor was moved to the same device before, and only computed with since: the line is one too many."""
    if discarded.name != "to" or discarded.device is None:
        return False
    value = discarded.tensor
    while isinstance(value, Op) and value.inputs and value.name in _STAYS:
        value = value.inputs[0]
    return isinstance(value, Op) and value.name == "to" and value.option(1, "device") is discarded.device


def is_part_of_batch(value: Value) -> bool:
    """Whether a value is one of several that a loop over batches takes apart, `for x, y in loader`, or an entry with the name of
    a tensor, `batch["image"]`. A whole batch may be an object that `to` changes in place, and what else a loop goes through
    may be models."""
    while isinstance(value, Op) and value.name == "getitem" and value.inputs:
        index = constant(value.options.get("index"))
        if not isinstance(index, int) and not (isinstance(index, str) and _TENSORS.fullmatch(index)):
            return False
        whole = value.inputs[0]
        if isinstance(whole, Op) and whole.name == "iterate":
            return comes_from_loader(whole)
        value = whole  # `for i, (x, y) in enumerate(loader)`
    return False
