from collections.abc import Iterator

from trainlint.facts.ask.asking import question
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import Wrapped
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Guards, Op, Value
from trainlint.facts.seen.ranks import Disagreement, Drift
from trainlint.finding import Finding
from trainlint.rule import rule

from .alone import alone
from .bypassed import bypassed
from .drifted import drifted
from .one_rank import loaded_by_one


@rule(Training, level="error", refutable=False, words="all_gather")
def check(training: Training) -> Iterator[Finding]:
    under: set[Guards] = set()
    is_copied = bool(training.events(Wrapped))
    for call in training.events(Called):
        if call.name == "torch.distributed.init_process_group":
            under.add(call.guards)
        in_each = any(set(call.guards) <= set(guards) for guards in under)
        if call.name == "torch.save" and in_each and is_copied and _is_one_file(call.argument(1, "f")):
            yield Finding(
                call.at,
                "Every rank writes this file at the same time: it may be corrupted, and a rank that reads it "
                "meanwhile gets an incomplete file. Save on rank 0 only, and let the other ranks wait at a "
                "barrier.",
            )
    yield from bypassed(training)
    yield from loaded_by_one(training)
    yield from alone(training)
    for apart in training.facts(Drift):
        yield from drifted(apart)
    for one in training.facts(Disagreement):
        if one.what == "gradients" and one.at is not None:
            with_none = sorted(rank for rank, said in one.ranks.items() if said == "no gradient")
            yield Finding(
                one.at,
                f"`{one.subject}` has a gradient on some ranks and none on rank "
                f"{', '.join(map(str, with_none))}: their copies of the model diverge, or the ranks "
                "deadlock. Compute the same loss on every rank through `DistributedDataParallel`, or average "
                "the gradients of all parameters.",
                subject=one.subject,
                evidence={f"rank {rank}": said for rank, said in one.ranks.items()},
            )


@question(start=False, unknown=False)
def _is_one_file(file: Value | None) -> bool:
    """Whether a path is the same in every process, as far as it is a literal."""
    match file:
        case Constant(value=str()):
            return True
        case Op(name="os.path.join"):
            return all(map(_is_one_file, file.inputs))
    return False
