import re
from collections.abc import Iterator

from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.loaders import workers
from trainlint.facts.model.events.frameworks import Streamed
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Object, Op, Unknown, Value, alternatives
from trainlint.facts.seen.loaders import LoaderSeen
from trainlint.finding import Finding
from trainlint.rule import rule

_PASSES_ON = frozenset(
    "enumerate zip sorted reversed iter list tuple map filter iterate copy itertools.islice itertools.chain tqdm.tqdm "
    "tqdm.auto.tqdm csv.reader csv.DictReader".split()
)
"""What goes through all that it is given."""
_SOURCES = frozenset(
    "range arange open builtins.open gzip.open io.open glob.glob os.listdir os.scandir readlines splitlines pandas.read_csv "
    "json.load numpy.load torch.load".split()
)
"""What is the same in every process that asks for it."""
_RANDOM = frozenset(
    "rand randn randint randperm rand_like randn_like randint_like normal bernoulli multinomial".split()
)
_GENERATORS = ("random.Random", "numpy.random.default_rng", "numpy.random.RandomState")
_MOST_PARTS = 200
_LISTS_FILES = re.compile(r"\.(glob|rglob|iterdir)\(…\)$")
"""How a path is asked for the files below it."""
_COPIES = re.compile(r"\.copy\(…\)$")
"""How a list is copied, where only what it came from is known."""


@rule(Training, level="error", refutable=False)
def check(training: Training) -> Iterator[Finding]:
    for stream in training.facts(Streamed):
        yield from _streamed(stream)
    for seen in training.facts(LoaderSeen):
        if seen.repeated and seen.loader.at is not None:
            yield Finding(
                seen.loader.at,
                f"The {seen.workers} workers of this loader give the same batches: each goes through the whole stream, so every "
                f"sample comes {seen.workers} times per epoch. In `__iter__`, ask `torch.utils.data.get_worker_info()` and "
                "yield the part of this worker.",
                evidence={"workers": seen.workers, "batches that another worker had given": seen.repeated},
            )


def _streamed(stream: Streamed) -> Iterator[Finding]:
    loader = stream.loader
    usual = _by_default(loader)
    number = workers(loader) if usual is None else usual
    if (
        stream.asks
        or not number
        or number < 1
        or loader.argument(10, "worker_init_fn") is not None
        or loader.at is None
        or _is_drawn(stream)
    ):
        return
    over = [one for value in stream.over for one in alternatives(value)]
    known = _named(stream)
    left = [one for one in over if one not in stream.inner and not _is_of_helper(one, over)]
    if number > 1 and left and all(_repeats(one) or one.uid in known for one in left):
        yield Finding(
            loader.at,
            f"Each of the {number} workers goes through the whole stream, so every sample comes {number} times per epoch. "
            "In `__iter__`, ask `torch.utils.data.get_worker_info()` and yield the part of this worker.",
            confidence="likely" if usual is not None else None,
            doubt="the number of workers is a default, which callers may replace"
            if usual is not None
            else "",
        )


def _by_default(loader: Object) -> int | None:
    """The number of workers, where it is one that callers may replace."""
    match loader.argument(5, "num_workers"):
        case Constant(value=int(number), is_default=True):
            return number
    return None


def _named(stream: Streamed) -> set[int]:
    """Values that name files, whatever they are: each worker has a copy of the dataset, and opens all of them."""
    return {
        named.uid
        for opened in reached(stream.over, most=_MOST_PARTS)
        if isinstance(opened, Op) and opened.name.endswith("open") and opened.inputs
        for name in alternatives(opened.inputs[0])
        if isinstance(name, Op) and name.name == "iterate" and name.inputs
        for named in alternatives(name.inputs[0])
        if isinstance(named, Unknown)
    }


def _is_of_helper(value: Value, over: list[Value]) -> bool:
    """Whether it is what a generator of the program's yields, whose own loops are among those that are known."""
    if not isinstance(value, Items) or value.kind != "generator":
        return False
    others = {one.uid for one in over if one is not value}
    return any(one.uid in others for one in reached([value]))


def _is_drawn(stream: Streamed) -> bool:
    """Whether it only counts samples that are drawn at random: each worker draws others."""
    return all(map(_counts, stream.over)) and any(map(_draws, reached(stream.yields, most=_MOST_PARTS)))


def _counts(value: Value) -> bool:
    return isinstance(value, Op) and value.name in ("range", "arange")


def _draws(value: Value) -> bool:
    """Whether random numbers come from what is seeded apart in each worker, and from no generator that is seeded here."""
    if not isinstance(value, Op) or "generator" in value.options:
        return False
    if value.name in _GENERATORS:
        return not value.inputs and not value.options
    return value.name in _RANDOM or value.name.startswith(("random.", "numpy.random."))


@question(start=False, unknown=False)
def _repeats(value: Value) -> bool:
    """Whether something is certainly the same in every worker."""
    match value:
        case Constant() | Items(exact=True):
            return True
        case Op(name="call", text=text, inputs=(copied,)) if _COPIES.search(text):
            return _repeats(copied)
        case Op(name=name, inputs=inputs) if name in _PASSES_ON:
            tensors = [one for given in inputs for one in alternatives(given)]
            return bool(tensors) and all(map(_repeats, tensors))
        case Op(name="call", inputs=(Op(name="getattr", options={"name": Constant(value=str(name))}), *_)):
            return name in _SOURCES
        case Op(name=name, text=text):
            return name in _SOURCES or _LISTS_FILES.search(text) is not None
    return False
