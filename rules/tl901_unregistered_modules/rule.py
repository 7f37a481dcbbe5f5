from collections.abc import Iterator

from trainlint.facts.model.modules import Unregistered
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Unregistered, level="error", confidence="likely")
def check(found: Unregistered) -> Iterator[Finding]:
    if found.kind == "tensor":
        yield Finding(
            found.at,
            f"`self.{found.attribute}` is not the parameter, but a tensor that is made of it, which torch does not "
            "register: it is not in `parameters()`, so the optimizer does not train it, and no checkpoint holds it. Do "
            "this inside of `nn.Parameter(...)`, to the tensor that it is made of.",
            tuple(Because(place, "the parameter, which nothing holds") for place in found.layers),
        )
        return
    if found.kind == "leaf":
        yield Finding(
            found.at,
            f"`self.{found.attribute}` gets gradients, but is a tensor and no parameter: it is not in `parameters()`, so the "
            "optimizer never changes it, and no checkpoint holds it. Use `nn.Parameter(...)`.",
            is_shown_by_runs=False,
        )
        return
    yield Finding(
        found.at,
        f"`self.{found.attribute}` holds {_harm(found)}. Use `nn.{found.instead}`.",
        tuple(Because(place, "this layer") for place in found.layers[:1]),
        level="error" if found.may_train else "warning",
        clues={"instead": found.instead, "of_layers_alone": found.of_layers_alone},
    )


def _harm(found: Unregistered) -> str:
    if found.drops_alone:
        return f"dropout in a plain {found.kind}: `eval()` does not reach it, so it still drops activations in evaluation"
    return (
        f"layers in a plain {found.kind}: they are not in `parameters()`, so the optimizer does not train them and "
        "`to()` does not move them"
    )
