from collections.abc import Iterator

from trainlint.facts.api.attention import MIXES
from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.ask.attention import SAME_VECTORS, scores_of, weights_of
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.made_up import is_made_up
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import plain
from trainlint.facts.model.events.operations import Attended
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value
from trainlint.finding import Because, Finding
from trainlint.rule import rule

OTHERWISE_BOUNDED = frozenset(("tanh", "relu", "leaky_relu", "softplus", "sum", "cat", "stack"))

_RECURRENT = RECURRENT | {"torch.nn.LSTMCell", "torch.nn.GRUCell", "torch.nn.RNNCell"}


@rule(
    Training,
    level="warning",
    confidence="likely",
    by="S",
    words="softmax Softmax scaled_dot_product_attention",
)
def check(training: Training) -> Iterator[Finding]:
    learns = bool(training.events(Backward))
    for attended in training.events(Attended):
        yield from _unscaled(attended, learns=learns)


def _unscaled(attended: Attended, *, learns: bool) -> Iterator[Finding]:
    weights = weights_of(attended.weights, attended.output.uid)
    if weights is None or weights.factors:
        return
    for softmax in weights.ends:
        scores = scores_of(softmax)
        if scores is None or scores.factors or scores.addends or scores.passed & OTHERWISE_BOUNDED:
            continue
        for product in scores.ends:
            if product.at is None or "alpha" in product.options or not are_projected(product):
                continue
            yield Finding(
                product.at,
                "These scores are dot products of queries and keys that are not divided by the square root "
                "of the head dimension: they grow with it, so softmax saturates and its gradients vanish. "
                "Multiply by `q.size(-1) ** -0.5`, or use `scaled_dot_product_attention`.",
                (Because(softmax.at, "softmax is applied here"),) if softmax.at is not None else (),
                level="info" if not (learns or attended.calls) and _is_tried_out(product) else None,
            )


def _is_tried_out(product: Op) -> bool:
    """Whether what is projected are numbers of no data, as in a lesson that prints what comes out."""
    layers = map(_projection_of, product.inputs)
    return all(is_made_up(one.inputs[0]) for one in layers if one is not None)


def are_projected(product: Op) -> bool:
    """Whether a matmul is of queries and keys from linear layers that nothing has scaled since."""
    if product.name not in MIXES:
        return False
    given = product.inputs[1:] if plain(product) in ("einsum", "baddbmm") else product.inputs[:2]
    layers = [_projection_of(one) for one in given]
    return len(layers) == 2 and all(one is not None and not _are_states(one) for one in layers)


def _are_states(projected: Op) -> bool:
    """Whether a linear layer is given what a recurrent one returns: attention between its states is not scaled."""
    return any(
        isinstance(one, Op) and one.name in _RECURRENT for one in made_of(projected.inputs[0], _is_layer)
    )


def _is_layer(op: Op) -> bool:
    return op.owner is not None and op.name != "output"


def _projection_of(value: Value | None) -> Op | None:
    """The linear layer that makes queries or keys, where they are as it makes them but for their axes."""
    while isinstance(value, Op):
        spend()
        if value.name == "linear" and value.owner is not None:
            return None if value.written else value
        if value.name not in SAME_VECTORS or not value.inputs or value.written:
            return None
        value = value.inputs[0]
    return None
