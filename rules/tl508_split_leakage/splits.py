"""Data that is scaled by statistics of itself, and data that is cut into parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeGuard

from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.ask.asking import reached
from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.values import Constant, Items, Object, Op, Value, Written, alternatives, constant
from trainlint.finding import Place

from .alike import called, is_same, last
from .windows import windows_of

_STATISTICS = frozenset("mean std var min max amin amax median nanmean nanstd".split())
SCALERS = frozenset(
    "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler QuantileTransformer PowerTransformer PCA TruncatedSVD "
    "SimpleImputer KNNImputer SelectKBest TfidfVectorizer".split()
)
_PIPELINES = frozenset("make_pipeline Pipeline make_column_transformer ColumnTransformer".split())
SAME_ROWS = (KEEPS | REBUILDS | {"astype", "array", "asarray", "DataFrame", "nan_to_num", "*", "+"}) - {
    "getitem",
    "narrow",
    "select",
    "chunk",
    "split",
    "unbind",
    "index_select",
}
_KEEP_ROWS = "to_numpy copy fillna ffill bfill interpolate dropna reset_index sort_values sort_index drop astype".split()
_DATASET = "torch.utils.data.Dataset"
_CUTS = frozenset(("split", "tensor_split"))
_MOST = 2_000
_CLOSE = 5
"""Operations on a statistic, itself included, after which what is left is still that statistic."""


def scaled_by_itself(value: Value, fitted: Iterable[Called], split: Place) -> Op | None:
    """The operation that scaled a value by statistics over all its samples, looking through what keeps its rows; or that
    scaled columns of a table, which took their place before the split."""
    fitted = list(fitted)
    pending, seen = list(alternatives(value)), set[int]()
    while pending and len(seen) < _MOST:
        one = pending.pop()
        if one.uid in seen or not isinstance(one, Op):
            continue
        seen.add(one.uid)
        spend()
        if _is_fitted(one, fitted) or _is_centred(one):
            return one
        pending.extend(write.inputs[2] for write in one.written if _sets_columns(write, split))
        if last(one) in SAME_ROWS or one.name in ("-", "/") or _is_same_table(one):
            pending.extend(alternatives(one.inputs[0]) if one.inputs else ())
        pending.extend(windows_of(one))
    return None


def features(dataset: Object) -> Iterator[Value]:
    """What a dataset of the program's own is given first, and keeps as it is: its features, before their targets."""
    if dataset.definition is not None and dataset.is_a(_DATASET) and dataset.args:
        first = dataset.args[0]
        if any(one is first for one in dataset.attributes.values()):
            yield from alternatives(first)


def _is_same_table(op: Op) -> bool:
    """Whether a table is given as an array, or with the same rows, or nearly so."""
    return called(op, *_KEEP_ROWS) or (op.name == "getattr" and op.text.endswith(".values"))


def _sets_columns(write: Op, split: Place) -> bool:
    """Whether it sets several columns of a table, before that is split. A single one may be the target, and to scale targets
    changes their unit alone."""
    if write.name != "setitem" or len(write.inputs) != 3 or write.at is None:
        return False
    names = write.inputs[1]
    is_several = (
        isinstance(names, Items)
        and (len(names.items) > 1 or bool(names.items and not names.exact))
        and all(map(_is_name, names.items))
    )
    return is_several and write.at.path == split.path and write.at.line < split.line


def _is_name(value: Value) -> bool:
    """Whether a value is a text, or is put together of one and something else: `f"I{number}"`, `"I" + str(number)`."""
    match value:
        case Written() | Op(name="+", inputs=(Constant(value=str()), _)):
            return True
    return isinstance(constant(value), str)


def _is_fitted(op: Op, fitted: list[Called]) -> bool:
    """`scaler.fit_transform(x)`, or `scaler.transform(x)` after `scaler.fit(x)`."""
    if len(op.inputs) < 2 or not isinstance(op.inputs[0], Op) or not _scales(op.inputs[0]):
        return False
    if op.name == "fit_transform":
        return True
    return op.name == "transform" and any(
        call.name == "fit"
        and len(call.args) > 1
        and call.args[0] is op.inputs[0]
        and call.args[1] is op.inputs[1]
        for call in fitted
    )


def _scales(op: Op) -> bool:
    """Whether something learns from all samples that it is fitted to: a scaler, or a pipeline with one in it."""
    if last(op) not in _PIPELINES:
        return last(op) in SCALERS
    return any(isinstance(one, Op) and last(one) in SCALERS for one in reached([op]))


def _is_centred(op: Op) -> bool:
    """`x - x.mean(0)`, and the like."""
    return (
        op.name in ("-", "/")
        and len(op.inputs) == 2
        and any(_is_over_samples(one, op.inputs[0]) for one in _inside(op.inputs[1]))
    )


def _is_over_samples(statistic: Op, of: Value) -> bool:
    if last(statistic) not in _STATISTICS or not statistic.inputs or not is_same(statistic.inputs[0], of):
        return False
    axis = statistic.options.get("dim", statistic.options.get("axis"))
    if axis is None and len(statistic.inputs) > 1:
        axis = statistic.inputs[1]
    if isinstance(axis, Items):
        return any(isinstance(one, Constant) and one.value == 0 for one in axis.items)
    return axis is None or (
        isinstance(axis, Constant) and axis.value in (0, None) and axis.value is not False
    )


def _inside(value: Value) -> Iterator[Op]:
    """The operations close to the end of a value."""
    last = {value.uid: value}
    for _ in range(_CLOSE):
        spend(len(last))
        yield from (one for one in last.values() if isinstance(one, Op))
        last = {part.uid: part for one in last.values() for part in one.parts()}


def cut_at(op: Op) -> tuple[Value | None, Value | None] | None:
    """Where a slice of the first axis begins and ends; None where it is no such slice."""
    index = op.options.get("index") if op.name == "getitem" else None
    if index is None and op.name == "getitem" and len(op.inputs) > 1:
        index = op.inputs[1]
    if isinstance(index, Items) and index.items:
        index = index.items[0]
    if not isinstance(index, Op) or index.name != "[:]" or len(index.inputs) < 3:
        return None
    first, last = index.inputs[:2]
    return (None if _is_none(first) else first), (None if _is_none(last) else last)


def are_halves(one: Op, other: Op) -> bool:
    """Whether two slices are of the same, and one begins where the other ends."""
    while one.inputs[0] is other.inputs[0]:
        order, other_order = _order(one), _order(other)
        if order is None or other_order is None:
            return _are_side_by_side(one, other)
        one, other = order, other_order
    return False


def _are_side_by_side(one: Op, other: Op) -> bool:
    if _is_piece(one) and _is_piece(other):
        return True
    first, second = cut_at(one), cut_at(other)
    if first is None or second is None:
        return False
    return _meet(first[1], second[0]) or _meet(second[1], first[0])


def is_cut(value: Value) -> TypeGuard[Op]:
    """Whether a value is a part of some rows: `x[:n]`, `x[order[:n]]`, or `split(x, n)[0]`."""
    if not isinstance(value, Op) or value.name != "getitem":
        return False
    return cut_at(value) is not None or _order(value) is not None or _is_piece(value)


def whole(cut: Op) -> Value:
    """What a part of some rows is cut from."""
    of = cut.inputs[0]
    is_table = isinstance(of, Op) and of.name == "getattr" and constant(of.options.get("name")) == "iloc"
    return of.inputs[0] if isinstance(of, Op) and (is_table or _is_piece(cut)) else of


def _is_piece(value: Op) -> bool:
    """Whether a value is one of the parts that a function has cut the first axis into."""
    split = value.inputs[0] if value.name == "getitem" and value.inputs else None
    if not isinstance(split, Op) or last(split) not in _CUTS or not split.inputs:
        return False
    axis = next((split.options[name] for name in ("dim", "axis") if name in split.options), None)
    axis = split.inputs[2] if axis is None and len(split.inputs) > 2 else axis
    return axis is None or constant(axis) == 0


def _meet(end: Value | None, start: Value | None) -> bool:
    """Whether one part ends where the other begins, or a few rows later: `x[:n]`, `x[n - context:]`."""
    if end is not None and isinstance(start, Op) and start.name == "-":
        start = start.inputs[0] if is_same(end, start.inputs[0]) else start
    return is_same(end, start)


def _order(op: Op) -> Op | None:
    """A slice of an order, or of a list of positions, by which rows are taken."""
    index = op.option(1, "index") if op.name == "getitem" else None
    return index if isinstance(index, Op) and cut_at(index) is not None else None


def _is_none(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None
