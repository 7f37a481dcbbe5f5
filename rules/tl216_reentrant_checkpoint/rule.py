from collections.abc import Iterator

from trainlint.facts.api.torch_api import CHECKPOINTS
from trainlint.facts.model.events import Called
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Called, level="warning", refutable=False, words="checkpoint checkpoint_sequential")
def check(call: Called) -> Iterator[Finding]:
    if call.name in CHECKPOINTS and not call.is_open and "use_reentrant" not in call.options:
        yield Finding(
            call.at,
            f"`{call.name.rpartition('.')[2]}` without `use_reentrant` uses the reentrant variant, which "
            "returns no gradients if no input requires grad; torch warns, and will raise in a later version. "
            "Pass `use_reentrant=False`.",
        )
