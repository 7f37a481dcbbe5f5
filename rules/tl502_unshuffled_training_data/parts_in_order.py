"""Parts of a dataset that keep its order: a slice of it, or the samples of a fold."""

from __future__ import annotations

import re

from trainlint.facts.model.values import Op, Value, alternatives

_COUNTS = frozenset("range arange numpy.arange".split())
_FOLDS = re.compile(r"sklearn\.model_selection\.(?:Repeated)?(?:Stratified)?(?:Group)?KFold$")
"""What gives the numbers of the samples of a fold sorted, also where it shuffles them before."""


def whole_in_order(dataset: Value) -> Value | None:
    """The dataset of which this is a part in the same order; None where it is none, or may be in another."""
    if not isinstance(dataset, Op) or dataset.name != "torch.utils.data.Subset":
        return None
    whole, indices = dataset.option(0, "dataset"), dataset.option(1, "indices")
    several = list(alternatives(indices))
    return whole if several and all(map(_is_sorted, several)) else None


def _is_sorted(indices: Value) -> bool:
    while isinstance(indices, Op) and indices.name == "getitem" and indices.inputs:
        if _is_of_fold(indices):
            return True
        indices = indices.inputs[0]
    return isinstance(indices, Op) and indices.name in _COUNTS


def _is_of_fold(indices: Op) -> bool:
    match indices.inputs[0]:
        case Op(name="iterate", inputs=(Op(name="split", inputs=(folds, *_)), *_)):
            return all(isinstance(one, Op) and _FOLDS.match(one.name) for one in alternatives(folds))
    return False
