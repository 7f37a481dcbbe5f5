"""What only a run can show: the numbers of a recorded training step. Plain data, no tensors.

A `Training` that was recorded hands these to rules beside the events; one that was read from source has none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.values import Object, Value
from trainlint.finding import Place

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Gradient:
    """A gradient as the optimizer was about to use it, unscaled.

    Args:
        norm: Euclidean norm.
        largest: largest absolute value.
        zeros: share of elements that are exactly 0.
        non_finite: how many elements are NaN or infinite.
    """

    norm: float
    largest: float
    zeros: float
    non_finite: int


@dataclass(frozen=True)
class Spread:
    """The elements of a tensor in five numbers; `non_finite` counts NaN and infinities."""

    mean: float
    std: float
    smallest: float
    largest: float
    non_finite: int = 0


@dataclass(frozen=True)
class ParameterSeen:
    """A parameter of a model that was trained, over the recorded step.

    Args:
        name: as `named_parameters()` of its model gives it, such as `layers.0.fc.weight`.
        module: the path of the module that holds it, such as `layers.0.fc`.
        module_type: class of that module: `torch.nn.Linear`, or the plain name of the program's own.
        at: where the program makes that module.
        order: position of that module among all modules by their first call; None if it was never called.
        trainable: `requires_grad`.
        optimizers: the optimizers that hold it, as in `OptimizerSeen.number`.
        stepped: whether one of these has stepped.
        start: its elements before the first step.
        gradient: what the first step used; None if there was no gradient.
        expected: whether a backward was run from a loss of its model before that step.
        update: norm of the change by one step over the norm of the weights, beyond weight decay.
        unchanged: bit-identical after the step.
        uses: how many modules hold this same parameter.
        model: number of its model, among those that were trained.
        rate: learning rate of its group at that step.
        moved: for one that no optimizer holds, whether something else has changed it.
        reached: whether any backward of the recording gave it a gradient.
        alive: whether any of these gradients was other than all zeros.
        value: what it is among the values that losses are made of.
    """

    name: str
    module: str
    module_type: str
    at: Place | None
    order: int | None
    shape: Shape
    dtype: str
    device: str
    trainable: bool
    optimizers: tuple[int, ...] = ()
    stepped: bool = False
    start: Spread | None = None
    gradient: Gradient | None = None
    expected: bool = False
    update: float | None = None
    unchanged: bool | None = None
    uses: int = 1
    model: int = 0
    rate: float | None = None
    moved: bool = False
    reached: bool = False
    alive: bool = False
    value: Value | None = None


@dataclass(frozen=True)
class OptimizerSeen:
    """An optimizer.

    Args:
        at: where it is made.
        step_at: where it stepped first; None if it never did.
        learning_rates: one for each parameter group.
        parameters: how many parameters it holds.
        elsewhere: how many of them belong to no module that the recorded step called.
        skipped: steps that a scaler left out because of non-finite gradients.
        state_devices: devices of its state.
        idle: how many of them had no gradient at its first step.
    """

    number: int
    type: str
    at: Place | None
    step_at: Place | None
    steps: int
    learning_rates: tuple[float, ...]
    weight_decays: tuple[float, ...]
    parameters: int
    elsewhere: int
    skipped: int = 0
    state_devices: tuple[str, ...] = ()
    idle: int = 0


@dataclass(frozen=True)
class Remains:
    """What was left of the gradients of an optimizer's step when it stepped again.

    Args:
        cleared: whether they were cleared between the two.
        numbers: where they were not, how many were left, of how many, and their norm.
    """

    optimizer: Object
    cleared: bool
    numbers: dict[str, float | str]


@dataclass(frozen=True)
class Resumed:
    """State that was loaded into an optimizer, and what had become of it at the first step after that.

    Args:
        at: where it is loaded.
        type: class of the optimizer.
        steps: the largest count of steps in the state.
        entries: for how many of its parameters there was state.
        kept: for how many of them it was still there at its first step; None if it never stepped.
        rates: learning rate of each group, as loaded.
        now: the same at the first step.
        stepped_by: class of another optimizer that stepped these parameters instead; empty where there is none.
        stepped_by_at: where that is made.
        scheduler: where a scheduler was made since that stood at its beginning at the first step.
    """

    at: Place
    type: str
    steps: float
    entries: int
    kept: int | None
    rates: tuple[float, ...]
    now: tuple[float, ...]
    stepped_by: str = ""
    stepped_by_at: Place | None = None
    scheduler: Place | None = None


@dataclass(frozen=True)
class ModuleSeen:
    """A module of a model that was trained.

    Args:
        path: such as `layers.0.attention`; empty for the model itself.
        model: class of the model.
        at: where the program makes it.
        order: position by first call in a recorded forward; None if it was never called.
        parameters: how many trainable elements it holds itself, without its children.
        training: its mode when it was called last; None if it was never called.
        output: shape of its (first) output.
        spread: the elements of that output.
        dead: share of its units (features or channels) that are 0 for the whole batch, in the call where it is
            least; None where it is no rectifier.
        saturated: share of its outputs at the flat ends of a sigmoid or tanh, likewise; None where it is neither.
        number: of its model, as in `ParameterSeen.model`.
        seconds: of the processor, in its fastest call after the first, without the modules that it calls itself.
    """

    path: str
    type: str
    model: str
    at: Place | None
    order: int | None
    calls: int
    parameters: int
    training: bool | None
    output: Shape | None = None
    spread: Spread | None = None
    dead: float | None = None
    saturated: float | None = None
    number: int = 0
    seconds: float | None = None


@dataclass(frozen=True)
class Rectified:
    """A rectifier that a model calls as a function, such as `F.relu`.

    Args:
        module: path of the module whose forward calls it.
        layer: which layer's output it was given; None where no layer made that.
        dead: share of its units (features or channels) that are 0 for the whole batch.
    """

    at: Place
    module: str
    layer: int | None
    shape: Shape
    dead: float


@dataclass(frozen=True)
class MaskSeen:
    """A mask that met attention scores, or a function that takes one.

    Args:
        at: where it is applied.
        way: `masked_fill`, `where`, `add`, `sdpa`, `attention` (`nn.MultiheadAttention` and what is built on it),
            `key_padding` (its `key_padding_mask`).
        shape: of the mask.
        scores: shape of what it is applied to, `(…, queries, keys)`.
        masked: share of the scores that it takes out.
        empty_rows: queries that are left without any key, counted after broadcasting.
        rows: all queries, counted likewise.
        axes: for each axis of the mask, the axis of `scores` (from the front) that it is broadcast along.
        batch: size of the batch, where it is known.
        is_padding: built by comparing tokens or lengths: each row says which keys of one sample are real.
        by_position: made of nothing but positions, as a causal mask is: no sample has a say in it.
        fill: value that takes the place of what is masked; None for boolean masks of a function.
        before_softmax: whether a softmax over keys follows; None where that is not seen.
        fits: whether it could be applied; where not, `scores` is the shape that it has to broadcast to, and nothing
            else is known.
        is_nan: whether a query without keys came out as NaN.
        is_mended: whether something else took the place of the weights of such a query afterwards.
        module: path of the module that was at work.
    """

    at: Place
    way: str
    shape: Shape
    dtype: str
    scores: Shape
    masked: float
    empty_rows: int
    rows: int
    axes: tuple[int, ...]
    batch: int | None = None
    is_padding: bool = False
    by_position: bool = False
    fill: float | None = None
    before_softmax: bool | None = None
    fits: bool = True
    is_nan: bool = False
    is_mended: bool = False
    module: str = ""

    @property
    def is_shared(self) -> bool:
        """Whether all samples of a batch have the same mask."""
        own = 0 in self.axes and self.shape[self.axes.index(0)] > 1
        return not own and len(self.scores) > 2 and self.scores[0] > 1


@dataclass(frozen=True)
class BatchSeen:
    """A tensor that the trained model was given, or that its loss compares with.

    Args:
        at: where the model or loss is called with it.
        role: `input` or `target`.
        name: how it was handed over: the position, or the keyword.
        to: class of the model or loss.
        constant: whether all its elements are equal, with more than one of them.
    """

    at: Place
    role: str
    name: str
    to: str
    shape: Shape
    dtype: str
    device: str
    spread: Spread | None
    constant: bool = False
    weights: tuple[str, ...] = ()
    """Floating dtypes of the parameters that it meets."""
    attached: bool = False
    """Whether gradients pass through it: another model made it, and it is no data."""


@dataclass(frozen=True)
class Pace:
    """How fast a run went, with the recorder at work, and what it held.

    Args:
        at: where the optimizer steps.
        seconds: from each of its steps to the next.
        memory: bytes after each backward: of tensors on CUDA, or all that the process has allocated where there are none.
        peak: the most bytes at any time, likewise; None where that cannot be seen.
        device: `cuda` or `cpu`: whose memory it is.
    """

    at: Place
    seconds: tuple[float, ...]
    memory: tuple[int, ...]
    peak: int | None
    device: str


@dataclass(frozen=True)
class ScalerSeen:
    """A gradient scaler over the recorded steps.

    Args:
        first: scale before the first step.
        last: scale after the last.
        skipped: steps that were left out because of non-finite gradients.
    """

    at: Place | None
    first: float
    last: float
    steps: int
    skipped: int


@dataclass(frozen=True)
class LoaderSeen:
    """A loader that a run has gone through.

    Args:
        rounds: how often a loop over it began.
        waits: seconds that the program waited for each batch.
        works: seconds from each batch to the asking for the next in the same loop.
        samples: length of its dataset; None where that has none.
    """

    loader: Object
    rounds: int
    waits: tuple[float, ...]
    works: tuple[float, ...]
    samples: int | None = None


@dataclass
class Tokenized:
    """The first texts that a tokenizer was given at one place, counted.

    Args:
        tokenizer: its class.
        texts: how many were looked at.
        tokens: what they became, without what was added at their ends.
        unknown: how many of these stand for whatever the vocabulary lacks.
        letters: letters and digits of the texts.
        unknown_letters: how many of these became unknown tokens.
        lost: how many of these became no token at all, although the tokenizer does not drop them on purpose.
        example: something that became unknown or was lost.
        doubled: texts that already had at one end what was added there.
        doubled_where: `start` or `end`.
        foreign: texts that end in what other tokenizers take for the end of a text.
        foreign_end: which that is.
        end: what it is for this tokenizer.
        sequences: texts whose length was looked at.
        cut: how many were cut because they were too long.
        limit: tokens that were kept of such a text.
        kept: tokens of all these texts that were kept.
        dropped: tokens that were cut off.
    """

    at: Place
    tokenizer: str
    texts: int = 0
    tokens: int = 0
    unknown: int = 0
    unknown_token: str = ""
    letters: int = 0
    unknown_letters: int = 0
    lost: int = 0
    example: str = ""
    doubled: int = 0
    doubled_where: str = ""
    doubled_token: str = ""
    foreign: int = 0
    foreign_end: str = ""
    end: str = ""
    sequences: int = 0
    cut: int = 0
    limit: int = 0
    kept: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class AutocastSeen:
    """A region of autocast.

    Args:
        device: the device type that it was asked for.
        dtype: of what it casts to.
        models: device types of the parameters of the modules that were called in it.
    """

    at: Place
    device: str
    dtype: str
    enabled: bool
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """An operation that raised.

    Args:
        operation: its canonical name, as in `Op.name`; `backward` for the backward pass.
        inputs: shape, dtype and device of each tensor that it was given.
        smallest: smallest element of its first integer input; None where there is none.
        largest: largest element of that input.
        error: class of the exception.
        culprit: for a backward that met a changed tensor, the in-place operation that changed it.
    """

    at: Place
    operation: str
    text: str
    error: str
    message: str
    inputs: tuple[tuple[Shape, str, str], ...] = ()
    smallest: float | None = None
    largest: float | None = None
    culprit: Place | None = None
    culprit_text: str = ""

    @property
    def is_of_positions(self) -> bool:
        """Whether the whole numbers it was given are one after the other, as positions are."""
        shape = self.inputs[0][0] if self.inputs else ()
        if not shape or self.smallest is None or self.largest is None or max(shape) < 2:
            return False
        return self.smallest in (0, 1) and self.largest - self.smallest == shape[-1] - 1


@dataclass(frozen=True)
class NonFinite:
    """The first operation of a step whose result holds NaN although none of its inputs does, or that is infinite
    where the loss is."""

    at: Place | None
    operation: str
    text: str
    module: str
    kind: str
    """`nan` or `inf`."""
    shape: Shape = ()


@dataclass(frozen=True)
class Probe:
    """An experiment on a copy of the model, after the step.

    Args:
        kind: `causal` (do outputs depend on later inputs?), `batch` (does a sample depend on another?) or `repeat` (does
            the same call from the same seed give something else?).
        leaked: whether they do.
        change: largest change of an output that should not have changed.
        scale: largest change of those that may change.
        shifted: for `causal`: whether the targets are the inputs one step on, so that it must hold.
        normalises: for `batch`: whether layers that mix samples on purpose do it, such as batch norm without running
            statistics.
        module: path of the first module that was given the same and gave something else; empty for the model itself.
        module_type: its class; empty where no such module was found.
        module_at: where it is made.
    """

    kind: str
    at: Place
    model: str
    leaked: bool
    change: float
    scale: float
    shifted: bool = False
    normalises: bool = False
    module: str = ""
    module_type: str = ""
    module_at: Place | None = None


@dataclass(frozen=True)
class Aligned:
    """Targets of a loss that are the inputs of a model, or those of later positions.

    Args:
        at: where the loss is computed.
        called_at: where the model is called.
        steps: by how many positions the targets are ahead of the inputs.
        positions: how many were compared; all of them agree.
        next: how many of them are the next input too.
        is_causal: for targets that are not ahead: whether each output was seen to depend on its own input and on
            earlier ones, and on no later one.
    """

    at: Place
    called_at: Place
    model: str
    steps: int
    positions: int
    next: int
    is_causal: bool = False


@dataclass(frozen=True)
class Padding:
    """Targets of a loss at padded positions.

    Args:
        at: where the loss is computed.
        by: what says that a position is padded: `attention_mask`, or `padding_idx` of an embedding.
        token: what stands there.
        padded: how many positions are padded.
        counted: how many of them count in the loss.
        targets: how many positions count in the loss, padded or not.
        ignored: the value that the loss ignores.
        ends: how many real tokens are the same as the padding.
        ends_counted: how many of these count in the loss.
    """

    at: Place
    by: str
    token: int
    padded: int
    counted: int
    targets: int
    ignored: int
    ends: int = 0
    ends_counted: int = 0


@dataclass(frozen=True)
class Warned:
    """A warning that was raised during the run, with the line of the program that led to it."""

    at: Place | None
    category: str
    message: str


@dataclass(frozen=True)
class Missed:
    """What the recorder failed to write down, which is a bug in it."""

    text: str


@dataclass(frozen=True)
class Numbered:
    """A tensor with a gradient that became a plain number of Python's, where no recorder can follow it."""

    at: Place


@dataclass(frozen=True)
class Opaque:
    """A module or function that the recorder could not enter, because torch compiles or scripts it."""

    at: Place | None
    text: str


@dataclass(frozen=True)
class Elsewhere:
    """A backward pass in another thread than the one that is recorded, by the thread's name."""

    thread: str


@dataclass(frozen=True)
class Layout:
    """A call of a recurrent, attention or transformer module.

    Args:
        batch_first: how the module was built.
        shape: of its first input.
        batch: size of the batch, where the program's loader or loss says it.
    """

    at: Place
    module: str
    type: str
    batch_first: bool
    shape: Shape
    batch: int | None

    @property
    def batch_axis(self) -> int | None:
        """Which of the first two axes is the batch, where sizes leave no doubt."""
        if self.batch is None or self.batch < 2 or len(self.shape) != 3:
            return None
        for axis in (0, 1):
            size, other = self.shape[axis], self.shape[1 - axis]
            if size == self.batch and other > 1 and other % size:
                return axis
        return None

    @property
    def is_mismatched(self) -> bool:
        """Whether the batch certainly stands where the module looks for time."""
        return self.batch_axis == (1 if self.batch_first else 0)


@dataclass(frozen=True)
class GraphNode:
    """A node of the picture of a model: the module or operation, and the nodes that feed it."""

    name: str
    operation: str
    module: str
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """The graph of a model.

    Args:
        by: `torch.fx`, `torch.export`, or `calls` where neither could trace the model.
        because: why the ones before could not.
    """

    model: str
    by: str
    nodes: tuple[GraphNode, ...]
    because: str = ""


@dataclass(frozen=True)
class Ending:
    """How the recording ended.

    Args:
        how: `recorded` (the steps that were asked for), `block` (the block of code that was to be), `finished`
            (the program ended before), `failed` (it raised), `interrupted`, `waited` (too long without a step), `exited` (by `os._exit`).
        error: last line of the traceback, where it raised.
        at: the program's line that raised.
    """

    how: str
    steps: int
    backwards: int
    forwards: int
    by_hand: int = 0
    """Updates of parameters by hand, past any optimizer."""
    by_hand_at: Place | None = None
    imported_torch: bool = True
    children: int = 0
    """Processes that the program started."""
    error: str = ""
    at: Place | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Rank:
    """Where a process stands among those that train together."""

    number: int = 0
    world: int = 1


@dataclass(frozen=True)
class Disagreement:
    """Something that the ranks of a distributed run do not have in common."""

    at: Place | None
    what: str
    subject: str = ""
    ranks: dict[int, str] = field(default_factory=dict)
