from collections.abc import Iterator

from trainlint.facts.events import Called, Drawn, SettingChanged
from trainlint.facts.loaders import workers
from trainlint.facts.torch_api import TOKENIZER
from trainlint.facts.training import Training
from trainlint.facts.values import Constant, Object
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_VARIABLE = "TOKENIZERS_PARALLELISM"


@rule(Training, level="warning", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    if _is_set(training):
        return
    told: set[int] = set()
    for run in training.runs(Called, Drawn):
        used: Called | None = None
        for event in run:
            if isinstance(event, Called) and used is None and _splits_many(event):
                used = event
            elif isinstance(event, Drawn) and used is not None and event.loader.uid not in told:
                at, several = event.loader.at, workers(event.loader)
                if at is not None and several is not None and several > 0 and not _spawns(event.loader):
                    told.add(event.loader.uid)
                    yield Finding(
                        at,
                        f"Worker processes are forked after the tokenizer has run in threads of its own, which a fork "
                        "does not survive: it warns in every worker and goes on with one thread. Set "
                        f'`os.environ["{_VARIABLE}"] = "false"` before the tokenizer is used.',
                        (
                            Because(used.at, "the tokenizer is used here, before"),
                            Because(event.at, "the workers are forked here"),
                        ),
                    )


def _splits_many(event: Called) -> bool:
    """Whether a fast tokenizer is used."""
    if not event.name.startswith(f"{TOKENIZER}."):
        return False
    tokenizer = event.args[0]
    if not isinstance(tokenizer, Object) or tokenizer.is_open:
        return False
    fast = tokenizer.options.get("use_fast")
    name = tokenizer.type.split(".")[1]
    return (name == "AutoTokenizer" or name.endswith("TokenizerFast")) and (
        fast is None or (isinstance(fast, Constant) and fast.value is True)
    )


def _spawns(loader: Object) -> bool:
    """Whether the workers may be started otherwise than by a fork."""
    return loader.argument(11, "multiprocessing_context") is not None


def _is_set(training: Training) -> bool:
    """Whether the program itself decides about the tokenizer's threads, or how processes are started."""
    return any(_VARIABLE in one.name for one in training.events(SettingChanged)) or any(
        isinstance(given, Constant) and given.value == _VARIABLE
        for one in training.events(Called)
        for given in one.args
    )
