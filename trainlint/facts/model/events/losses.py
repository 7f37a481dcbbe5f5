"""Losses that are computed, and summed up."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.api.losses import LOSS_SETTINGS
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Carried, Constant, Op, Value
from trainlint.finding import Because, Place


@dataclass(eq=False)
class Accumulated(Event):
    """`total += value`, with `total` made before the loop: it lives on into the next iteration.

    Args:
        made_in: the loops that the dict or list was made in of which it is an entry; None where that is not known.
    """

    total: str = ""
    value: Value = field(default_factory=Value)
    result: Value = field(default_factory=Value)
    made_in: tuple[int, ...] | None = None


@dataclass(eq=False)
class Collected(Event):
    """`losses.append(value)` in a loop, with a list that was made before the loop."""

    value: Value = field(default_factory=Value)


@dataclass(eq=False)
class Joined(Event):
    """`scores = torch.cat((scores, value))` in a loop that `scores` came into: it grows with each iteration.

    Args:
        before: what it was at the head of the loop.
    """

    total: str = ""
    before: Carried = field(default_factory=Carried)
    value: Value = field(default_factory=Value)
    result: Op = field(default_factory=Op)


@dataclass(eq=False)
class LossCall(Event):
    """A loss is computed: by a loss of torch's, or by the program's own code that takes the log-softmax.

    Args:
        name: what the user calls it: `nn.CrossEntropyLoss`, `F.cross_entropy`, `LabelSmoothing`.
        function: the function of torch's that it comes down to, `cross_entropy`; `log_softmax` for the
            program's own.
        output: the loss itself; its inputs are the prediction and the target.
        built: the place where the loss object was made, where there is one.
    """

    name: str = ""
    function: str = ""
    output: Op = field(default_factory=Op)
    built: Place | None = None
    is_open: bool = False
    """Whether arguments were given that cannot be seen, by `**options`."""
    is_of_menu: bool = False
    """Whether a setting that is not in sight chooses it among several that want different inputs."""

    @property
    def input(self) -> Value | None:
        return self.output.option(0, "input") or self.output.options.get("inputs")

    @property
    def target(self) -> Value | None:
        return self.output.option(1, "target") or self.output.options.get("targets")

    def seen_as(self, what: str) -> tuple[Because, ...]:
        """The places where `what` (for example "probabilities reach") meets the loss, and where the loss is made."""
        here = Because(self.at, f"{what} {self.name} here")
        if self.built is None or self.built == self.at:
            return (here,)
        return (here, Because(self.built, f"{self.name} is created here"))

    def setting(self, name: str, default: object) -> Value | None:
        """An option such as `reduction`, of the call or of the loss object; None where it cannot be seen."""
        names = LOSS_SETTINGS.get(self.function, ())
        given = dict(zip(names, self.output.inputs[2:], strict=False)) | self.output.options
        if (owner := self.output.owner) is not None:
            given |= dict(zip(names, owner.args, strict=False)) | owner.options
        if name in given:
            return given[name]
        replacing = [given[old] for old in ("size_average", "reduce") if old in given]
        is_replaced = any(not isinstance(one, Constant) or one.value is not None for one in replacing)
        return None if self.is_open or is_replaced else Constant(value=default)
