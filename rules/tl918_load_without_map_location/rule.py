from collections.abc import Iterator

from trainlint.facts.ask.clues import loaded_as_state
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.training import Training
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="info", refutable=False, by="S", words="load")
def check(training: Training) -> Iterator[Finding]:
    states = loaded_as_state(training)
    for call in training.events(Called):
        if call.name == "torch.load" and not call.is_open and call.argument(1, "map_location") is None:
            yield Finding(
                call.at,
                "Without `map_location`, tensors are loaded to the device that they were saved on: a "
                "checkpoint from CUDA fails to load on a machine without CUDA, and fills the first GPU on "
                'one with it. Pass `map_location="cpu"` or your device.',
                clues={"is_state": call.at in states},
            )
