from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER, SAMPLER
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.values import Guards, Object, Value, compatible, constant, ways
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Built, level="error")
def check(built: Built) -> Iterator[Finding]:
    loader = built.object
    if loader.type != LOADER:
        return
    shuffles = [(*built.guards, *way) for way in _certainly_true(loader.argument(2, "shuffle"))]
    for position, name in ((3, "sampler"), (4, "batch_sampler")):
        sampler = next(
            (
                one
                for way, one in ways(loader.argument(position, name))
                if isinstance(one, Object)
                and one.is_a(SAMPLER)
                and any(compatible(way, shuffled) for shuffled in shuffles)
            ),
            None,
        )
        if sampler is not None:
            yield Finding(
                built.at,
                f"`shuffle=True` and `{name}` are mutually exclusive, so `DataLoader` raises a `ValueError`: "
                "the sampler already sets the order of the samples. Remove `shuffle`, and let the sampler "
                "shuffle.",
                (Because(sampler.at, "the sampler is created here"),) if sampler.at is not None else (),
                clues={
                    "name": name,
                    "always": all(
                        isinstance(one, Object) and one.is_a(SAMPLER)
                        for _, one in ways(loader.argument(position, name))
                    ),
                },
            )


def _certainly_true(value: Value | None) -> Iterator[Guards]:
    """The conditions under which a value is True, whatever the command-line options are."""
    for way, one in ways(value):
        if constant(one) is True:
            yield way
