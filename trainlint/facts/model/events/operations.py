"""Operations on tensors."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Constant, Guards, Object, Op, Value


@dataclass(eq=False)
class Operation(Event):
    """One of the operations on tensors that `facts.api.operations.ASKED` names.

    Args:
        function: the dotted name of the function or layer; empty for an operator, a method, and in a run.
    """

    output: Op = field(default_factory=Op)
    function: str = ""


@dataclass(eq=False)
class Attended(Event):
    """The result of a softmax, whatever was done to it since, weighs values in a product of matrices.

    Args:
        weights: what came of the softmax.
        output: the product.
    """

    weights: Value = field(default_factory=Value)
    output: Op = field(default_factory=Op)


@dataclass(eq=False)
class SizesTaken(Event):
    """`batch, steps, width = x.shape`: a tensor has as many axes as that many names take.

    Args:
        tensor: the tensor.
        count: how many axes it has.
    """

    tensor: Value = field(default_factory=Value)
    count: int = 0


@dataclass(eq=False)
class Pooled(Event):
    """The result of a softmax, whatever was done to it since, weighs vectors in a sum of products.

    Args:
        weights: what came of the softmax.
        output: the sum.
    """

    weights: Value = field(default_factory=Value)
    output: Op = field(default_factory=Op)


@dataclass(eq=False)
class AttentionCall(Event):
    """A function or layer of torch's that attends is called: one of `facts.api.attention.ATTENTION_MASKS`."""

    name: str = ""
    output: Op = field(default_factory=Op)
    is_open: bool = False

    def argument(self, position: int, name: str) -> Value | None:
        """An argument; None where it was not given, or is None."""
        found = self.output.option(position, name)
        return None if isinstance(found, Constant) and found.value is None else found


@dataclass(eq=False)
class Discarded(Event):
    """Nothing is done with the result of an operation that changes nothing.

    Args:
        name: the method or function.
        tensor: what it is called on or given.
        is_method: whether it is called as a method.
        kept_in: the variable of a loop that it is assigned to, and that nothing reads any more: `tensor` is what the loop has
            put there, and `made` what took its place.
        device: what `to` is given.
    """

    name: str = ""
    tensor: Value = field(default_factory=Value)
    is_method: bool = True
    text: str = ""
    kept_in: str = ""
    made: Value = field(default_factory=Value)
    device: Value | None = None


@dataclass(eq=False)
class ToHost(Event):
    """Numbers of a tensor are handed to Python: whoever asks waits until the device has computed them.

    Args:
        name: `item`, `tolist`, `numpy`, `cpu`, `float`, `int`, `print`, or the function of NumPy's that is given it.
        tensor: what the numbers are taken from.
        text: the expression, where it is read.
        module: the module in whose forward it happens.
        records: whether autograd watches; None where that is unknown.
        under: the undecided conditions inside that forward under which it happens.
    """

    name: str = ""
    tensor: Value = field(default_factory=Value)
    text: str = ""
    module: Object | None = None
    records: bool | None = True
    under: Guards = ()


@dataclass(eq=False)
class Asserted(Event):
    """`assert`: the program goes on only where the test is true."""

    test: Value = field(default_factory=Value)
