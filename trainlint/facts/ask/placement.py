"""On which devices the modules and tensors of a program certainly are, as far as the source says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.api.classes import LOADER, MODULE
from trainlint.facts.api.frameworks import LIGHTNING
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.devices import device_types
from trainlint.facts.ask.holding import contained, has_parameters, is_part_of
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.modules import Built, Moved, Wrapped
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Unknown,
    Value,
    alternatives,
)

DEFAULT = frozenset(("torch.set_default_device", "torch.set_default_tensor_type"))
"""Functions that say where tensors are made."""

ACCELERATORS = frozenset(("cuda", "mps", "xpu"))

ACCELERATOR = "the accelerator"
"""A kind of device: whatever the machine has, and not the CPU."""

_FRESH = frozenset("zeros ones rand randn randint full empty arange linspace eye randperm from_numpy".split())
_OF_NUMBERS = frozenset("tensor as_tensor Tensor FloatTensor DoubleTensor LongTensor".split())
"""Operations that make a tensor of the numbers that they are given."""

_STAYS = frozenset(
    "getitem view reshape flatten unsqueeze squeeze float long sum mean sqrt log exp pow clamp abs softmax".split()
)
"""Operations whose result is where their first input is."""

_ARITHMETIC = frozenset("+ - * / ** add sub mul div".split())


def has_default_device(training: Training) -> bool:
    """Whether the program says where tensors are made that do not say it themselves."""
    return any(one.name in DEFAULT for one in training.events(Called))


def homes_of(
    training: Training, module: Object, use: Event, *, accelerated: bool = False, unseen: bool = False
) -> frozenset[str]:
    """The kinds of device on which a module may be when it is used; empty where that is not known, or where it holds
    no weights.

    A module is made on the CPU, unless it is told otherwise. It may go elsewhere in the hands of code that is not known.

    Args:
        accelerated: of a program that moves it to the CPU only where there is nothing else, on a machine that has more.
        unseen: also say it of a module that code out of sight has made, wherever that is, once it is moved here.
    """
    if not has_parameters(module):
        return frozenset()
    parts = {one.uid for one in (*filter(_moves_along, reached([module], _made_with)), made_as(module))}
    is_built = _is_plainly_built(training, module)
    if not (is_built or unseen) or has_default_device(training) or _is_handed(training, parts):
        return frozenset()
    if any(one.is_a(LIGHTNING) and is_part_of(module, one) for one in training.objects):
        return frozenset()  # whoever trains that moves it
    moves = [one for one in _moves(training, parts) if not _only_follows(training, one, use)]
    is_moved_first = any(not one.guards and not _is_later(training, one, module) for one in moves)
    homes = {kind for one in moves for kind in _ends(one, accelerated=accelerated)}
    if not is_moved_first:
        if not is_built or any(map(_is_of_something_unseen, training.events(Moved))):
            return frozenset()
        homes |= {kind for _, kind in device_types(module.options.get("device", Constant(value="cpu")))}
    return frozenset() if "" in homes else frozenset(homes)


def _moves_along(part: Value) -> bool:
    """Whether a part of a module goes where it goes: not a number, or a configuration, which others may hold too."""
    return isinstance(part, Op) or (isinstance(part, Object) and part.is_a(MODULE))


def _is_plainly_built(training: Training, module: Object) -> bool:
    """Whether a module is made here, of layers of torch's and classes of the program, none of which asks for a device."""
    if not any(one.object is module for one in training.events(Built)):
        return False
    return not any(
        isinstance(one, Object)
        and one.is_a(MODULE)
        and (
            one.is_open
            or ("device" in one.options and (one is not module or one.definition))
            or not _PLACES.isdisjoint(one.options)
            or not (one.definition or one.type.startswith(_PLAIN))
        )
        for one in reached([module], _made_with)
    )


def _made_with(value: Value) -> Iterable[Value]:
    """What a module holds, and what code out of sight made it of, as a part of another module: it is where that is."""
    if not isinstance(value, Object):
        return () if isinstance(value, Op) else value.parts()
    if value.definition is not None or value.type.startswith("torch.nn.") or not value.is_a(MODULE):
        return value.attributes.values()
    given = (one for each in (*value.args, *value.options.values()) for one in alternatives(each))
    return (*value.attributes.values(), *(one for one in given if _moves_along(one)))


_PLACES = frozenset(("device_map", "load_in_8bit", "load_in_4bit", "quantization_config"))
"""What tells `from_pretrained` to put a model on a device of its own choice."""

_PLAIN = ("torch.nn.", "torchvision.models.", "transformers.", "timm.", "segmentation_models_pytorch.")
"""Libraries whose modules are made where the program says."""


def _moves(training: Training, parts: set[int]) -> Iterator[Moved]:
    for move in training.events(Moved):
        if any(one.uid in parts for what in alternatives(move.what) for one in contained(what)):
            yield move


def _is_of_something_unseen(move: Moved) -> bool:
    """Whether a move, outside of all loops, may be of any module: as of a name that a later cell of a notebook binds."""
    return not move.loops and any(isinstance(one, Unknown) for one in alternatives(move.what))


def _only_follows(training: Training, move: Moved, use: Event) -> bool:
    """Whether a move comes after a use, and in no loop that brings the use again."""
    return training.is_after(move, use) and set(move.loops).isdisjoint(use.loops)


def _ends(move: Moved, *, accelerated: bool) -> set[str]:
    """The kinds of device that a move may lead to."""
    kinds = {kind for _, kind in device_types(move.device)}
    if "" in kinds and _is_accelerator(move.device):
        kinds = kinds - {""} | {ACCELERATOR}
    return kinds - {"cpu"} if accelerated and len(kinds) > 1 else kinds


@question(start=False, unknown=False)
def _is_accelerator(device: Value) -> bool:
    """Whether a device is the accelerator of the machine, wherever nothing else says what it is."""
    unknown = [one for one in alternatives(device) if "" in {kind for _, kind in device_types(one)}]
    return all(map(_asks_for_one, unknown))


def _asks_for_one(device: Value) -> bool:
    """Whether a device is that of the machine, or a setting whose default is no CPU."""
    match device:
        case Op(name="torch.accelerator.current_accelerator"):
            return True
        case Op(name="device", inputs=(inner,)):
            return _is_accelerator(inner)
        case Constant(value=str(name), is_default=True):
            return name.partition(":")[0] in ACCELERATORS
    return False


def _is_handed(training: Training, parts: set[int]) -> bool:
    """Whether something of a module is handed to code that is not known, or to what places it by itself."""
    given = [event.module for event in training.events(Wrapped)]
    given += [value for event in training.events(Escape) for value in event.values]
    return any(one.uid in parts for value in given for held in handed_over(value) for one in contained(held))


def _is_later(training: Training, move: Event, module: Object) -> bool:
    """Whether a move stands in a loop that the module was not made in: its first iteration may come before."""
    return bool(set(move.loops) - set(module.loops))


def device_of(value: Value | None) -> str:
    """The kind of device on which a tensor certainly is; empty where that is not known."""
    return _device_of(value) or ""


@question(start=None, unknown="")
def _device_of(value: Value | None) -> str | None:
    """The same; None for a variable that holds nothing but what it has held before."""
    match value:
        case Choice() | Carried():
            return _only(_device_of(one) for one in value.parts())
        case Op(name="to"):
            given = value.option(1, "device")
            return _kind(given) if given is not None else ""
        case Op(name="cuda") if isinstance(followed := value.option(1, "device"), Op):
            return _device_of(followed.inputs[0]) if followed.name == "device" and followed.inputs else ""
        case Op(name="cuda" | "cpu" as name):
            return name
        case Op(name=name) if name in _FRESH:
            return _kind(value.options.get("device", Constant(value="cpu")))
        case Op(name=name, inputs=(Items() | Constant(), *_)) if name in _OF_NUMBERS:
            return _kind(value.options.get("device", Constant(value="cpu")))
        case Op(name=name) if name in _ARITHMETIC:
            return _only(_device_of(one) for one in value.inputs if not _is_number(one))
        case Op(inputs=(inner, *_)) if value.name in _STAYS:
            return _only(map(_device_of, (inner, *_put_into(inner))))
        case Op(name="iterate", inputs=(Object() as loader, *_)) if loader.is_a(LOADER):
            return _device_of_data(loader)
        case Op(name="call", inputs=(Op() as pipeline, _)) if _makes_tensors(pipeline):
            return "cpu"
    return ""


def _makes_tensors(pipeline: Op) -> bool:
    """Whether it is torchvision's way from an image, which is on no device, to a tensor."""
    if pipeline.name.endswith(_OF_IMAGES):
        return pipeline.name.startswith(_TRANSFORMS)
    steps = pipeline.inputs[0] if pipeline.name in _PIPELINES and pipeline.inputs else None
    return (
        isinstance(steps, Items)
        and steps.exact
        and all(isinstance(one, Op) and one.name.startswith(_TRANSFORMS) for one in steps.items)
        and any(isinstance(one, Op) and one.name.endswith(_OF_IMAGES) for one in steps.items)
        and not any(isinstance(one, Op) and one.name.endswith(".Lambda") for one in steps.items)
    )


_TRANSFORMS = "torchvision.transforms."
_PIPELINES = ("torchvision.transforms.Compose", "torchvision.transforms.v2.Compose")
_OF_IMAGES = (".ToTensor", ".PILToTensor")


def _is_number(value: Value) -> bool:
    """Whether it is a plain number, which is on no device."""
    return isinstance(value, Constant) or (isinstance(value, Op) and value.name == "builtins.len")


def _kind(device: Value) -> str | None:
    """The kind of a device. What is put on the CPU only where there is nothing else is on what the machine has."""
    kinds = {kind for _, kind in device_types(device)}
    return _only(kinds - {"cpu"} if len(kinds) > 1 else kinds)


def _put_into(batch: Value) -> Iterator[Op]:
    """What was put in the place of items of a batch, such as these items on another device."""
    for write in batch.written if isinstance(batch, Op) else ():
        match write:
            case Op(name="setitem", inputs=(_, _, Op() as item)):
                yield item


def _only(kinds: Iterable[str | None]) -> str | None:
    """The one device that all of several are; empty where they differ."""
    known = {kind for kind in kinds if kind is not None}
    return "" if len(known) > 1 else next(iter(known), None)


def _device_of_data(loader: Object) -> str | None:
    """A loader hands out its items where they are, stacked."""
    if loader.definition is not None or loader.is_open or "collate_fn" in loader.options:
        return ""
    data = loader.argument(0, "dataset")
    if not isinstance(data, Op):
        return ""
    if data.name == "torch.utils.data.TensorDataset":
        is_listed = any(isinstance(one, Items) for one in data.inputs)
        return "" if is_listed else _only(map(_device_of, data.inputs))
    return "cpu" if data.name.startswith("torchvision.datasets.") else ""
