"""torch's losses, their settings, and what sums and weights them. Data.

Source: PyTorch's documentation, and measurements on torch 2.13.
"""

from __future__ import annotations

import re

ADDITIVE = frozenset(("+", "-", "add", "sub", "sum", "mean", "neg"))
"""Operations that keep the terms of a loss apart."""


SCALING = frozenset(("*", "/", "mul", "div"))
"""Operations that only weight a loss when all but one of their inputs are plain numbers."""


LOSSES: dict[str, str] = {
    "torch.nn.CrossEntropyLoss": "cross_entropy",
    "torch.nn.NLLLoss": "nll_loss",
    "torch.nn.NLLLoss2d": "nll_loss",
    "torch.nn.BCELoss": "binary_cross_entropy",
    "torch.nn.BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "torch.nn.KLDivLoss": "kl_div",
    "torch.nn.MSELoss": "mse_loss",
    "torch.nn.L1Loss": "l1_loss",
    "torch.nn.SmoothL1Loss": "smooth_l1_loss",
    "torch.nn.HuberLoss": "huber_loss",
    "torch.nn.MultiMarginLoss": "multi_margin_loss",
    "torch.nn.MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss",
    "torch.nn.MultiLabelMarginLoss": "multilabel_margin_loss",
    "torch.nn.SoftMarginLoss": "soft_margin_loss",
    "torch.nn.PoissonNLLLoss": "poisson_nll_loss",
    "torch.nn.GaussianNLLLoss": "gaussian_nll_loss",
    "torch.nn.CTCLoss": "ctc_loss",
    "torch.nn.CosineEmbeddingLoss": "cosine_embedding_loss",
    "torch.nn.HingeEmbeddingLoss": "hinge_embedding_loss",
    "torch.nn.MarginRankingLoss": "margin_ranking_loss",
    "torch.nn.TripletMarginLoss": "triplet_margin_loss",
    "torch.nn.TripletMarginWithDistanceLoss": "triplet_margin_with_distance_loss",
}
"""Loss classes, and the function that each calls."""


LOSS_FUNCTIONS = frozenset(LOSSES.values())


MOST_INPUTS = {
    "ctc_loss": 4,
    **dict.fromkeys(
        "triplet_margin_loss triplet_margin_with_distance_loss cosine_embedding_loss margin_ranking_loss "
        "gaussian_nll_loss".split(),
        3,
    ),
}
"""How many tensors the object of a loss takes, where these are more than input and target."""


LOSS_SETTINGS: dict[str, tuple[str, ...]] = {
    "cross_entropy": ("weight", "size_average", "ignore_index", "reduce", "reduction", "label_smoothing"),
    "nll_loss": ("weight", "size_average", "ignore_index", "reduce", "reduction"),
    "binary_cross_entropy": ("weight", "size_average", "reduce", "reduction"),
    "binary_cross_entropy_with_logits": ("weight", "size_average", "reduce", "reduction", "pos_weight"),
    "kl_div": ("size_average", "reduce", "reduction", "log_target"),
}
"""What may follow the input and the target of a loss by position, and comes first where its object is made."""


TAKES = {
    **dict.fromkeys(("cross_entropy", "log_softmax", "binary_cross_entropy_with_logits"), "logits"),
    **dict.fromkeys(("nll_loss", "kl_div"), "log-probabilities"),
    "binary_cross_entropy": "probabilities",
}
"""What losses take as their input; those that are not here take anything."""


IGNORED = -100
"""The label that losses ignore where they are not told another."""

_CLASS = re.compile(r"(Loss|Criterion|Triplet)(es)?(V?\d+|_?[A-Z]{1,4})?$|LOSS$")
_FUNCTION = re.compile(r"(^|_)(loss|criterion)(_f[nu]\w*)?$")


def is_named_loss(function: str, owner: str | None) -> bool:
    """Whether a function of a program or a method is called a loss, or a class whose objects it computes for: `DiceLoss.forward`."""
    if _FUNCTION.search(function):
        return True
    return owner is not None and function in ("forward", "__call__") and _CLASS.search(owner) is not None
