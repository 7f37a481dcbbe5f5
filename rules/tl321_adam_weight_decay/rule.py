from collections.abc import Iterator

from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.values import constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Built, level="info", refutable=False, by="S")
def check(built: Built) -> Iterator[Finding]:
    optimizer = built.object
    decay = constant(optimizer.argument(4, "weight_decay"))
    is_coupled = "decoupled_weight_decay" not in optimizer.options and not optimizer.is_open
    if optimizer.type == "torch.optim.Adam" and is_coupled and isinstance(decay, float | int) and decay > 0:
        yield Finding(
            built.at,
            f"`Adam` adds this weight decay of {decay:g} to the gradient before it divides by the gradient's "
            "running size: weights with large gradients decay less than this value says. Use `AdamW` for "
            "decoupled weight decay.",
        )
