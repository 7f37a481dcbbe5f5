import re
from collections.abc import Iterator

from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Value
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule

_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*$")
_PLAIN = re.compile(
    r"(Log)?Softmax|(Log)?Sigmoid|\w*ReLU\d*|GELU|SiLU|Swish|Mish|Tanh|\w*Drop(out|path)\w*|Identity|Flatten|\w*Pool\w*|"
    r"Rearrange|Lambda|\w*Activation|Upsample|Pad\w*",
    re.IGNORECASE,
)
"""Layers that mostly have no parameters."""


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
    return layer.name.rpartition(".")[2] if isinstance(layer, Op) else ""


def _shared(container: Object) -> Iterator[tuple[Place, Value]]:
    """The layers with parameters that a multiplication has put into a container."""
    for value in container.attributes.values():
        for place, layer in value.repeated if isinstance(value, Items) else ():
            if has_parameters(layer) if isinstance(layer, Object) else _is_of_unseen_class(layer):
                yield place, layer


def _is_of_unseen_class(layer: Value) -> bool:
    """Whether it is made by a class that is not in sight, of sizes that it is given, and is not called like what has no
    parameters."""
    if not isinstance(layer, Op) or layer.owner is not None or layer.name.startswith("torch."):
        return False
    package, _, name = layer.name.rpartition(".")
    is_sized = bool(layer.inputs or layer.options)
    return bool(package) and is_sized and _CLASS.match(name) is not None and _PLAIN.fullmatch(name) is None


def _evidence(container: Object, layer: Value) -> dict[str, object]:
    often = max(
        value.items.count(layer) for value in container.attributes.values() if isinstance(value, Items)
    )
    return {"places of one layer": often} if often > 1 else {}
