"""Operations on tensors that rules ask about, whether functions or methods."""

from __future__ import annotations

from trainlint.facts.api.gradients import CUTS, NO_GRADIENT
from trainlint.facts.api.losses import ADDITIVE, LOSS_FUNCTIONS, SCALING
from trainlint.facts.api.meanings import CLAMPS, KEEPS, MAKES, TURNS
from trainlint.facts.api.operations import NOT_METHODS

OF_TENSORS = (
    set(MAKES)
    | set(TURNS)
    | KEEPS
    | CLAMPS
    | CUTS
    | NO_GRADIENT
    | ADDITIVE
    | SCALING
    | set(LOSS_FUNCTIONS)
    | set(
        "matmul bmm mm mean sum pow exp log sqrt abs norm max min logsumexp relu tanh masked_fill masked_fill_ "
        "std var prod cumsum dot einsum baddbmm where add_ sub_ mul_ div_ log_prob entropy topk sort amax cummax "
        "tril triu tril_ triu_ logical_not logical_and logical_or bitwise_not bitwise_and bitwise_or new_ones new_zeros "
        "repeat astype "
        "log2 log10 log1p expm1 rsqrt reciprocal rsub astype roll masked_select "
        "square sin cos tan sinh cosh atan atan2 erf lerp addmm addcmul addcdiv maximum minimum logaddexp "
        "logcumsumexp cumprod cummin nansum nanmean outer".split()
    )
) - (NOT_METHODS | set(LOSS_FUNCTIONS))
"""Each is of a first tensor, so that nothing here makes a tensor of numbers alone."""
