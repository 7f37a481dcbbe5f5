from collections.abc import Iterator

from trainlint.facts.recorded import Recorded
from trainlint.facts.step import AutocastSeen, Warned
from trainlint.finding import Finding, Place
from trainlint.rule import rule


@rule(Recorded, level="error", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    said: set[Place] = set()
    for region in recorded.facts(AutocastSeen):
        if region.enabled and region.models and region.device not in region.models and region.at not in said:
            said.add(region.at)
            yield Finding(
                region.at,
                f'Autocast is asked for "{region.device}", and the model is on {" and ".join(region.models)}, where it '
                "changes nothing: the step runs in full precision. Pass the device of the model, as in "
                "`torch.autocast(device.type)`.",
                evidence={"autocast": region.device, "model": ", ".join(region.models)},
            )
    for warned in recorded.facts(Warned):
        if warned.at is not None and warned.at not in said and _was_disabled(warned.message):
            said.add(warned.at)
            yield Finding(
                warned.at,
                'Autocast is asked for "cuda", and there is no CUDA here: torch switches it off, and the step runs in '
                "full precision. Pass the device that the model is on, as in `torch.autocast(device.type)`.",
                level="warning",
                evidence={"torch says": warned.message},
            )


def _was_disabled(message: str) -> bool:
    return "CUDA is not available" in message and (
        "Disabling autocast" in message or "device_type" in message
    )
