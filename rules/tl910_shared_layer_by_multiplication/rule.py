import re
from collections.abc import Iterator

from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Unknown, Value, constant
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule

_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*$")
_PLAIN = re.compile(
    r"(Log)?Softmax|(Log)?Sigmoid|\w*ReLU\d*|GELU|SiLU|Swish|Mish|Tanh|\w*Drop(out|path)\w*|Identity|Flatten|\w*Pool\w*|"
    r"Rearrange|Lambda|\w*Activation|Upsample|Pad\w*",
    re.IGNORECASE,
)
"""Layers that mostly have no parameters."""
_SIZE = re.compile(r"(?:\w+_)?(?:dim|d_?model|width|hidden(?:_size|_dim)?|channels|features|planes)$")
"""How a size is called that decides how many parameters a layer has."""


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    for container in training.objects:
        if not container.is_a("torch.nn.Sequential", "torch.nn.ModuleList") or container.at is None:
            continue
        found = next(_shared(container), None)
        if found is not None and not _only_infers(training, container):
            place, layer = found
            yield Finding(
                container.at,
                f"The same `{_called(layer)}` is put into this container n times, as by `[layer] * n`: "
                "all of them share one set of weights. Create each one separately: `[make() for _ in range(n)]`.",
                (Because(place, "it is repeated here"),) if place != container.at else (),
                evidence=_evidence(container, layer),
                doubt="" if isinstance(layer, Object) else "whether it has parameters is not in sight",
            )


def _only_infers(training: Training, container: Object) -> bool:
    """Whether all that is done with a container is inference, as where its speed is measured."""
    runs = [one for one in training.events(Forward) if one.module is container]
    return bool(runs) and not any(one.records for one in runs) and not training.events(Backward)


def _called(layer: Value) -> str:
    if isinstance(layer, Object):
        return layer.type.removeprefix("torch.")
    if not isinstance(layer, Op):
        return ""
    return layer.text if layer.name == "call" else layer.name.rpartition(".")[2]


def _shared(container: Object) -> Iterator[tuple[Place, Value]]:
    """The layers with parameters that a multiplication has put into a container."""
    for value in container.attributes.values():
        for place, layer in value.repeated if isinstance(value, Items) else ():
            if isinstance(layer, Object):
                is_trained = has_parameters(layer) is True
            else:
                is_one = container.is_a("torch.nn.Sequential") and _is_made_of_a_size(layer)
                is_trained = is_one or _is_of_unseen_class(layer)
            if is_trained:
                yield place, layer


def _is_of_unseen_class(layer: Value) -> bool:
    """Whether it is made by a class that is not in sight, of sizes that it is given, and is not called like what has no
    parameters."""
    if not isinstance(layer, Op) or layer.owner is not None or layer.name.startswith("torch."):
        return False
    package, _, name = layer.name.rpartition(".")
    is_sized = bool(layer.inputs or layer.options)
    return bool(package) and is_sized and _CLASS.match(name) is not None and _PLAIN.fullmatch(name) is None


def _is_made_of_a_size(layer: Value) -> bool:
    """Whether something that is not in sight, and is not called like what has no parameters, makes it of the model's width:
    `make(cfg.dim)`."""
    if not isinstance(layer, Op) or layer.owner is not None or layer.name != "call":
        return False
    made_by = re.split(r"\W+", layer.text.partition("(")[0])[-1]
    given = [named for one in (*layer.inputs[1:], *layer.options.values()) if (named := _spelled(one))]
    return _PLAIN.search(made_by) is None and any(map(_SIZE.match, given))


def _spelled(value: Value) -> str:
    """The last name that a value is read by."""
    if isinstance(value, Unknown):
        return value.text.rpartition(".")[2]
    name = constant(value.options.get("name")) if isinstance(value, Op) and value.name == "getattr" else None
    return name if isinstance(name, str) else ""


def _evidence(container: Object, layer: Value) -> dict[str, object]:
    often = max(
        value.items.count(layer) for value in container.attributes.values() if isinstance(value, Items)
    )
    return {"places of one layer": often} if often > 1 else {}
