from collections.abc import Iterator

from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule


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
                f"The same `{layer.type.removeprefix('torch.')}` is put into this container n times, as by `[layer] * n`: "
                "all of them share one set of weights. Create each one separately: `[make() for _ in range(n)]`.",
                (Because(place, "it is repeated here"),) if place != container.at else (),
                evidence=_evidence(container, layer),
            )


def _only_infers(training: Training, container: Object) -> bool:
    """Whether all that is done with a container is inference, as where its speed is measured."""
    runs = [one for one in training.events(Forward) if one.module is container]
    return bool(runs) and not any(one.records for one in runs) and not training.events(Backward)


def _shared(container: Object) -> Iterator[tuple[Place, Object]]:
    """The layers with parameters that a multiplication has put into a container."""
    for value in container.attributes.values():
        for place, layer in value.repeated if isinstance(value, Items) else ():
            if isinstance(layer, Object) and has_parameters(layer):
                yield place, layer


def _evidence(container: Object, layer: Object) -> dict[str, object]:
    often = max(
        value.items.count(layer) for value in container.attributes.values() if isinstance(value, Items)
    )
    return {"places of one layer": often} if often > 1 else {}
