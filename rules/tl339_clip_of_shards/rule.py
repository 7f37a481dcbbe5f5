from collections.abc import Iterator

from trainlint.facts.ask.contents import leaves
from trainlint.facts.ask.guards import counting
from trainlint.facts.model.events.frameworks import Sharded
from trainlint.facts.model.events.steps import Clip
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, compatible
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="warning", by="S")
def check(training: Training) -> Iterator[Finding]:
    sharded = {
        _itself(one).uid: event
        for event in training.events(Sharded)
        if event.flat and event.shards
        for one in alternatives(event.module)
    }
    if not sharded:
        return
    for clip in training.events(Clip):
        if not clip.function.endswith("clip_grad_norm_") or "isinstance" in str(clip.guards):
            continue
        for leaf in leaves(clip.parameters):
            if isinstance(leaf, Op) and leaf.name == "parameters" and leaf.inputs:
                found = next(
                    (
                        sharded[one.uid]
                        for one in map(_itself, alternatives(leaf.inputs[0]))
                        if one.uid in sharded
                    ),
                    None,
                )
                if found is not None and _always(training, found, clip):
                    yield Finding(
                        clip.at,
                        "Each rank only holds its own shard of the gradients, so this clips by another norm on every "
                        "rank. Call `clip_grad_norm_` of the sharded module itself.",
                        (Because(found.at, "the module is sharded here"),),
                    )
                    break


def _itself(module: Value) -> Value:
    """A module, or the value that it stands in for: a constructor may shard what other methods use as a module."""
    return module.stands_for if isinstance(module, Object) and module.stands_for is not None else module


def _always(training: Training, sharded: Sharded, clip: Clip) -> bool:
    """Whether the module is certainly sharded where it is clipped."""
    if not sharded.guards:
        return True
    other = [guard for guard in training.inside_loop(clip) if guard not in sharded.guards]
    return compatible(sharded.guards, clip.guards) and len(counting(tuple(other))) == len(other)
