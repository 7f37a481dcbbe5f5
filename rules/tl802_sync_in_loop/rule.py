from collections.abc import Iterator

from trainlint.facts.ask.host import asks_for_device, is_born_on_host, is_on_host
from trainlint.facts.model.events.operations import ToHost
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule


@rule(Training, level="info")
def check(training: Training) -> Iterator[Finding | Open]:
    for read in training.events(ToHost):
        is_there = is_born_on_host(read.tensor) or is_on_host(read.tensor)
        if not read.loops or is_there or read.module is not None:
            continue
        if not all(asks_for_device(guard) for guard in training.inside_loop(read)):
            continue
        steps = [one for one in training.inside(read.loops[-1], Backward) if one.loops[-1] == read.loops[-1]]
        often = training.each_time(read, steps) if steps else None
        if steps and often is None:
            yield Open(read.at, "whether each step waits here")
        if often is not None:
            yield Finding(
                read.at,
                f"`{read.text or read.name + '()'}` forces a device-to-host sync on every step: the program "
                "waits for this value, and no new work is queued. Keep the detached tensor, and read it "
                "every N steps.",
                (Because(steps[0].at, "each iteration of this loop is one step"),),
                evidence=often,
            )
