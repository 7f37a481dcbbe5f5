from collections.abc import Iterator

from trainlint.facts.api.attention import SDPA
from trainlint.facts.model.events.operations import AttentionCall
from trainlint.facts.model.values import Op
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .scales import scales_of


@rule(AttentionCall, level="warning", words="softmax Softmax scaled_dot_product_attention")
def check(call: AttentionCall) -> Iterator[Finding]:
    if call.name != SDPA or call.is_open or call.argument(6, "scale") is not None:
        return
    query, key = call.argument(0, "query"), call.argument(1, "key")
    of_query, of_key = scales_of(query), scales_of(key)
    if of_query is None or of_key is None:
        return
    scales = [*of_query, *of_key]
    if not scales or sum(one.power for one in scales) != -0.5:
        return
    width = query.seen.shape[-1] if isinstance(query, Op) and query.seen is not None else None
    yield Finding(
        call.at,
        "The scores are scaled twice: by hand, and by scaled_dot_product_attention, which divides them by "
        "the square root of the width as well. They are too small, so attention is close to an average of "
        "all values. Remove your own scale, or pass `scale=1.0`.",
        tuple(Because(one.op.at, "scaled here") for one in scales if one.op.at is not None),
        evidence={"head dimension": width} if width is not None else {},
    )
