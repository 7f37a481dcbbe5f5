"""What a loader makes the parts of its batches of: rows of a dataset, stacked, or whatever the program's own code gives."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainlint.facts.api.classes import LOADER
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, constant

_PARTS = ("getitem", "torch.utils.data.random_split", "torch.utils.data.Subset")
_IN_BATCH = ("getitem", "getattr")
_TABLE = re.compile(r"(^|[_.])(df|data_?frame|frame)$", re.IGNORECASE)


class Sample(NamedTuple):
    """What a part of a batch is made of: one sample, or a tensor of all of them, and whether the loader stacks it."""

    of: Value
    is_all: bool = False
    is_stacked: bool = True


def sample_of(part: Op) -> Sample | None:
    """What a part of a batch is made of; None for what is no such part, or may be put together in another way."""
    batch: Value = part
    while isinstance(batch, Op) and batch.name in _IN_BATCH:
        batch = batch.inputs[0]
    loader = batch.inputs[0] if isinstance(batch, Op) and batch.name == "iterate" else None
    if part.drawn is None or not isinstance(loader, Object) or loader.type != LOADER:
        return None
    if loader.argument(6, "collate_fn") is not None:
        return Sample(part.drawn, is_stacked=False)
    size = loader.argument(1, "batch_size")
    is_many = size is not None and not (isinstance(size, Constant) and size.value in (None, 1))
    return Sample(part.drawn, _is_of_tensors(loader.argument(0, "dataset"))) if is_many else None


def _is_of_tensors(data: Value | None) -> bool:
    while isinstance(data, Op) and data.name in _PARTS and data.inputs:
        data = data.inputs[0]
    return isinstance(data, Op) and data.name == "torch.utils.data.TensorDataset"


def is_column(value: Op) -> bool:
    """Whether a value is the array of one column of a table of pandas: `df["price"].values`."""
    if not value.inputs:
        return False
    column = value.inputs[0]
    is_array = value.name == "getattr" and constant(value.options.get("name")) == "values"
    if not (is_array or value.text.endswith(".to_numpy(…)")) or not isinstance(column, Op):
        return False
    table = column.inputs[0] if column.name == "getitem" else None
    is_of_one = isinstance(constant(column.options.get("index")), str)
    return is_of_one and _is_table(table)


_STAYS_TABLE = re.compile(
    r"\.(?:fillna|dropna|ffill|bfill|interpolate|replace|clip|copy|drop|drop_duplicates|sample|head|tail|query|"
    r"reset_index|sort_values|sort_index|rename|assign)\(…\)$"
)
"""Methods of a table that give a table of the same columns, or of some of them."""
_SPLITS = "sklearn.model_selection.train_test_split"


def _is_table(value: Value | None) -> bool:
    while isinstance(value, Op) and value.inputs and not value.name.startswith("pandas."):
        before = value.inputs[0]
        if value.name == "getitem" and isinstance(before, Op) and before.name == _SPLITS and before.inputs:
            value = before.inputs[0] if len(before.inputs) == 1 else None
        elif value.name == "call" and _STAYS_TABLE.search(value.text):
            value = before
        else:
            return False
    if isinstance(value, Unknown):
        return _TABLE.search(value.text) is not None
    return isinstance(value, Op) and value.name.startswith("pandas.")
