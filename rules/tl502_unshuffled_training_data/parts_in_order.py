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
    match indices:
        case Op(name=name) if name in _COUNTS:
            return True
        case Op(
            name="getitem", inputs=(Op(name="iterate", inputs=(Op(name="split", inputs=(folds, *_)), *_)), *_)
        ):
            return all(isinstance(one, Op) and _FOLDS.match(one.name) for one in alternatives(folds))
        case Op(name="getitem", inputs=(whole, *_)):
            return _is_sorted(whole)
    return False
