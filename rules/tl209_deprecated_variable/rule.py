from collections.abc import Iterator

from trainlint.facts.api.second_names import DEPRECATED_VARIABLE
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.clues import has_no_graph
from trainlint.facts.model.events.calls import LibraryCall
from trainlint.facts.model.values import Constant, constant
from trainlint.finding import Finding, Versions
from trainlint.rule import rule

_MERGED = Versions(since=(0, 4))
_HARM = ": `volatile=True` has no effect, and a tensor with a graph loses it here"


@rule(LibraryCall, level="warning", refutable=False, by="S", words="Variable")
def check(call: LibraryCall) -> Iterator[Finding]:
    if call.name in DEPRECATED_VARIABLE and not call.is_fallback:
        wants_gradient = constant(call.options.get("requires_grad")) is True
        is_harmful = _does_harm(call)
        instead = "the tensor itself, with `requires_grad_()`" if wants_gradient else "the tensor itself"
        yield Finding(
            call.at,
            f"`Variable` has been deprecated since torch 0.4, which merged it with `Tensor`{_HARM if is_harmful else ''}. "
            f"Use {instead}.",
            level=None if is_harmful else "info",
            torch=_MERGED,
            clues={
                "has_no_graph": bool(call.args) and has_no_graph(call.args[0]),
                "wants_gradient": wants_gradient,
            },
        )


def _does_harm(call: LibraryCall) -> bool:
    """Whether a program means `volatile`, and has not switched gradients off in another way; or what is wrapped has a graph."""
    is_volatile = (
        call.records is True and constant(call.options.get("volatile", Constant(value=False))) is not False
    )
    return is_volatile or any(attachment(one).attached for one in call.args[:1])
