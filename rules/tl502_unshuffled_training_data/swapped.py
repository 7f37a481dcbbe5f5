"""Two loaders that were confused: the one that only evaluates shuffles, and the one that trains does not."""

from trainlint.facts.ask.loaders import Use
from trainlint.facts.model.values import Object, Unknown, Value, alternatives, constant
from trainlint.finding import Because


def shuffled_instead(use: Use, used: tuple[Use, ...]) -> Object | None:
    """A loader of the same file that only evaluates, and shuffles: whatever the data is, the two were confused."""
    found = (
        other.loader
        for other in used
        if other.evaluates
        and constant(other.loader.argument(2, "shuffle")) is True
        and use.loader.at is not None
        and other.loader.at is not None
        and other.loader.at.path == use.loader.at.path
    )
    return next(found, None) if _is_unknown(use.loader.argument(0, "dataset")) else None


def _is_unknown(dataset: Value | None) -> bool:
    return dataset is not None and all(isinstance(one, Unknown) for one in alternatives(dataset))


def said_of(loader: Object | None) -> tuple[Because, ...]:
    if loader is None or loader.at is None:
        return ()
    return (Because(loader.at, "this one shuffles, and nothing is trained on it"),)
