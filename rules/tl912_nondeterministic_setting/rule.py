import difflib
from collections.abc import Iterator

from trainlint.facts.model.events.calls import SettingChanged
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_CUDNN = "torch.backends.cudnn."
_KNOWN = ("benchmark", "deterministic", "enabled", "allow_tf32", "benchmark_limit")
_ALSO_KNOWN = frozenset(("verbose", "rnn", "conv", "fp32_precision"))
_NO_SWITCHES = tuple(
    f"{place}{name}"
    for place in ("torch.backends.cuda.", "torch.backends.", "torch.cuda.", "torch.")
    for name in ("deterministic", "benchmark")
)
_CLOSE = 0.75


@rule(Training, level="warning", refutable=False, by="S", words="cudnn benchmark deterministic")
def check(training: Training) -> Iterator[Finding]:
    for change in training.events(SettingChanged):
        yield from _without_effect(change)
    yield from _at_odds(training)


def _without_effect(change: SettingChanged) -> Iterator[Finding]:
    """A flag that does not exist: Python allows assigning any name to a module."""
    meant = None
    if change.name in _NO_SWITCHES:
        meant = change.name.rpartition(".")[2]
    elif change.name.startswith(_CUDNN):
        given = change.name.removeprefix(_CUDNN)
        if "." not in given and given not in _KNOWN and given not in _ALSO_KNOWN:
            meant = next(iter(difflib.get_close_matches(given, _KNOWN, 1, _CLOSE)), None)
    if meant is not None:
        yield Finding(
            change.at,
            f"`{change.name}` is not a flag of PyTorch, so this silently has no effect. Write "
            f"`{_CUDNN}{meant}`.",
            clues={"given": change.name, "meant": meant},
        )


def _at_odds(training: Training) -> Iterator[Finding]:
    """Benchmarking and determinism are both enabled, in every order in which the program may run, or where a condition enables
    benchmarking after all."""
    for order in _orders(training):
        ends = _last(order)
        if not (_asks(ends, "deterministic") and _asks(ends, "benchmark")):
            continue
        if "enabled" in ends and constant(ends["enabled"].value) is False:
            continue  # cuDNN is off, and picks nothing
        benchmark, deterministic = ends["benchmark"], ends["deterministic"]
        yield Finding(
            benchmark.at,
            "`cudnn.benchmark = True` lets cuDNN pick the fastest algorithm, which can differ between runs, but "
            "`cudnn.deterministic = True` asks for reproducible runs. Set `benchmark = False`.",
            (Because(deterministic.at, "determinism is requested here"),),
        )
        return


def _orders(training: Training) -> list[list[SettingChanged]]:
    """All changes, where they are made under the same conditions; else those before a change for which there are more conditions,
    if all of them certainly come before it."""
    changes = [one for one in training.events(SettingChanged) if one.name.startswith(_CUDNN)]
    if len({one.guards for one in changes}) == 1:
        return [changes]
    last = changes[-1] if changes else None
    if last is None or last.name != f"{_CUDNN}benchmark":
        return []
    return [changes] if all(set(one.guards) <= set(last.guards) for one in changes) else []


def _last(run: list[SettingChanged]) -> dict[str, SettingChanged]:
    """The last value of each flag."""
    return {one.name.removeprefix(_CUDNN): one for one in run}


def _asks(ends: dict[str, SettingChanged], name: str) -> bool:
    return name in ends and constant(ends[name].value) is True
