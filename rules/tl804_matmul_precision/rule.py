from collections.abc import Iterator

from trainlint.facts.api.noted import MATMUL_PRECISION
from trainlint.facts.ask.devices import ways_to_be_on
from trainlint.facts.model.events.calls import Called, SettingChanged
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Converted, Moved
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.finding import Finding
from trainlint.rule import rule

_SWITCHES = ("allow_tf32", "fp32_precision")


@rule(Training, level="info", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    if training.entry != "program" or not training.events(Forward):
        return
    backward = next(iter(training.events(Backward)), None)
    moved = training.events(Moved)
    if backward is None or not any(ways_to_be_on(one.device, "cuda") for one in moved):
        return
    is_set = any(one.name == MATMUL_PRECISION for one in training.events(Called)) or any(
        one.name.endswith(_SWITCHES) for one in training.events(SettingChanged)
    )
    is_lower = any(one.autocast for one in training.events(Forward)) or bool(training.events(Converted))
    if not is_set and not is_lower:
        yield Finding(
            backward.at,
            "float32 matmuls on CUDA run in full precision here. Since Ampere, tensor cores are several "
            "times faster in TF32, with 10 bits of mantissa: if that is precise enough, call "
            '`torch.set_float32_matmul_precision("high")` before training.',
        )
