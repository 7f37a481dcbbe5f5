from collections.abc import Iterator

from trainlint.facts.api.operations import FRESH
from trainlint.facts.model.events.modules import Moved
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Unknown, Value
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="info", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    for moved in training.events(Moved):
        if moved.loops or training.entry == "function":
            yield from _made_elsewhere(moved)


def _made_elsewhere(moved: Moved) -> Iterator[Finding]:
    made = moved.what
    while isinstance(made, Op) and made.name == "Variable" and made.inputs:
        made = made.inputs[0]
    if not isinstance(made, Op) or made.name not in FRESH or not _is_device(moved.device):
        return
    if not {"device", "generator", "pin_memory", "out"} & made.options.keys() and made.loops == moved.loops:
        yield Finding(
            moved.at,
            f"`{made.text}` allocates the tensor on the CPU, and this copies it to the device, which blocks. "
            "Create it on the device: pass `device=`.",
            clues={
                "name": made.name,
                "is_random": made.name.startswith("rand"),
                "wants_gradient": "requires_grad" in made.options,
            },
        )


def _is_device(value: Value) -> bool:
    match value:
        case Constant(value=str(name)):
            return name != "cpu"
        case Op(name="device", inputs=(Constant(value="cpu"),)):
            return False
        case Op(name="device"):
            return True
        case Op(name="getattr", options={"name": Constant(value=str(name))}):
            return "device" in name
        case Unknown(text=text):
            return "device" in text
    return False
