from collections.abc import Iterator

from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.operations import Operation
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Operation, level="info", by="S")
def check(operation: Operation) -> Iterator[Finding]:
    op = operation.output
    if op.name == "data" and is_tensor(op.inputs[0]):
        yield Finding(
            operation.at,
            f"`{op.text}` bypasses autograd, which then cannot detect in-place changes to the values. Use "
            "`.detach()` to read them, and `torch.no_grad()` around code that writes them.",
        )
