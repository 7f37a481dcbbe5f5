from collections.abc import Iterator

from trainlint.facts.events import Called
from trainlint.facts.training import Training
from trainlint.facts.values import Value, alternatives, constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="warning", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    calls = training.events(Called)
    written = [one.argument(1, "f") for one in calls if one.name == "torch.save"]
    for call in calls:
        if call.name != "torch.load" or constant(call.options.get("weights_only")) is not False:
            continue
        file = call.argument(0, "f")
        if file is not None and not any(_same(file, one) for one in written if one is not None):
            yield Finding(
                call.at,
                "`weights_only=False` runs whatever code the file holds: a checkpoint from elsewhere can do anything "
                "that you can. Load with `weights_only=True`, and name the classes that it needs with "
                "`torch.serialization.safe_globals`.",
            )


def _same(one: Value, other: Value) -> bool:
    """Whether two paths are certainly one: the same value, or the same text."""
    first, second = list(alternatives(one)), list(alternatives(other))
    if {value.uid for value in first} & {value.uid for value in second}:
        return True
    return constant(one) is not None and constant(one) == constant(other)
