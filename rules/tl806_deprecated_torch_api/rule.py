from collections.abc import Iterator

from trainlint.facts.api.deprecated import FIRST_OF_ONE, TELLING, UNMISTAKABLE, Deprecated
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.calls import LibraryCall
from trainlint.finding import Finding, Version, Versions
from trainlint.rule import rule

from .single import is_single


@rule(LibraryCall, level="warning", refutable=False, by="S", words=" ".join(sorted(TELLING)))
def check(call: LibraryCall) -> Iterator[Finding]:
    old = call.deprecated
    if old is None or call.is_fallback or not _is_of_torch(call, old):
        return
    what = _what(call, old)
    if old.gone is not None:
        said = f"{what} was deprecated by torch {_shown(old.since)} and raises since {_shown(old.gone)}."
        if old.gone < old.since:
            said = f"{what} raises since torch {_shown(old.gone)}."
    elif old.quiet:
        said = f"{what} is deprecated since torch {_shown(old.since)}, which no warning says that Python shows by default."
    else:
        said = f"{what} is deprecated since torch {_shown(old.since)} and warns."
    instead = old.instead if "`" in old.instead else f"`{old.instead}`"
    yield Finding(
        call.at,
        f"{said} {'Pass' if old.missing else 'Use'} {instead}.",
        level="info" if old.quiet else None,
        torch=Versions(since=old.since, gone=old.gone),
        clues={"name": call.name, "argument": old.given and old.given[1]},
    )


def _is_of_torch(call: LibraryCall, old: Deprecated) -> bool:
    """Whether a method is a tensor's; the names of functions show that."""
    if call.receiver is None:
        return True
    if old == FIRST_OF_ONE:
        return is_single(call.receiver)
    return call.name.rpartition(".")[2] in UNMISTAKABLE or is_tensor(call.receiver)


def _what(call: LibraryCall, old: Deprecated) -> str:
    if old == FIRST_OF_ONE:
        return f"`{call.text}`, of a tensor without an axis,"
    name = call.name.removesuffix(".__init__").replace("torch.optim.lr_scheduler.LRScheduler", "scheduler")
    if old.given is not None:
        return f"the argument `{old.given[1]}` of `{name}`"
    if old.missing is not None:
        return f"`{name}` without `{old.missing[1]}`"
    if old.count is not None:
        return f"`{name}` with a number before the tensor"
    return f"`{name}`"


def _shown(version: Version) -> str:
    return ".".join(map(str, version))
