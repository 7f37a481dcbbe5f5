"""Bugs inside models: layers, masks and attention."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m
from injected_edits import Edit, assigned_calls, calls, calls_in, full_name, functions, last_name, within

_MODULE_LIST = m.Attribute(attr=m.Name("ModuleList"))


def plain_list(module: cst.Module) -> Iterator[Edit]:
    """Of lists that become attributes: a `ModuleDict` would refuse one."""
    for one in within(module, cst.Assign):
        call = one.value
        if isinstance(call, cst.Call) and m.matches(call, m.Call(_MODULE_LIST, [m.Arg()])):
            yield call, cst.Call(cst.Name("list"), call.args)


def shared_layers(module: cst.Module) -> Iterator[Edit]:
    """`[Layer(...) for _ in range(n)]` of a ModuleList becomes `[Layer(...)] * n`: one layer, n times."""
    each = m.ListComp(elt=m.Call(), for_in=m.CompFor(m.Name(), m.Call(m.Name("range"), [m.Arg()]), ifs=[]))
    for call in calls_in(module):
        if not m.matches(call, m.Call(_MODULE_LIST, [m.Arg(each)])):
            continue
        made = cst.ensure_type(call.args[0].value, cst.ListComp)
        counter = cst.ensure_type(made.for_in.target, cst.Name).value
        name = full_name(cst.ensure_type(made.elt, cst.Call))
        names = {one.value for one in within(made.elt, cst.Name)}
        if counter not in names and name.rpartition(".")[2][:1].isupper():
            times = cst.ensure_type(made.for_in.iter, cst.Call).args[0].value
            product = cst.BinaryOperation(
                left=cst.List([cst.Element(made.elt)]),
                operator=cst.Multiply(),
                right=cst.parse_expression(f"({module.code_for_node(times)})"),
            )
            yield call, call.with_changes(args=[cst.Arg(product)])


def super_init_dropped(module: cst.Module) -> Iterator[Edit]:
    """Of classes with a base that may be a module: an abstract class needs none."""
    classes = [one for one in within(module, cst.ClassDef) if _has_some_base(module, one)]
    for function in (one for each in classes for one in within(each, cst.FunctionDef)):
        for one in calls(function, "__init__") if function.name.value == "__init__" else ():
            if "super" in module.code_for_node(one.call) and "nn." in module.code_for_node(function):
                yield one.replaced([])


def _has_some_base(module: cst.Module, one: cst.ClassDef) -> bool:
    names = {module.code_for_node(base.value) for base in one.bases}
    return bool(names - {"ABC", "abc.ABC", "object"})


def mask_diagonal(module: cst.Module) -> Iterator[Edit]:
    for call in calls_in(module):
        for arg in call.args if last_name(call) == "triu" else ():
            if m.matches(arg, m.Arg(m.Integer("1"))):
                yield arg, arg.with_changes(value=cst.Integer("0"))
    for call in calls_in(module):
        if m.matches(call, m.Call(m.Attribute(attr=m.Name("tril")), [m.Arg(keyword=None)])):
            yield call, call.with_changes(args=[*call.args, cst.parse_expression("f(diagonal=1)").args[0]])  # type: ignore[attr-defined]


def mask_filled_with_zero(module: cst.Module) -> Iterator[Edit]:
    for call in calls_in(module):
        if last_name(call) in ("masked_fill", "masked_fill_") and len(call.args) == 2:
            text = module.code_for_node(call.args[1])
            if any(sign in text for sign in ("inf", "e9", "-1e", "min")):
                yield call.args[1], call.args[1].with_changes(value=cst.Integer("0"))


def softmax_over_the_batch(module: cst.Module) -> Iterator[Edit]:
    """`F.softmax(x, dim=1)` becomes `dim=0`: what had a dimension 1 has another one before it."""
    for call in calls_in(module):
        name = full_name(call)
        is_first = name in ("F.softmax", "torch.softmax", "nn.Softmax", "F.log_softmax", "nn.LogSoftmax")
        for arg in call.args if is_first else ():
            if m.matches(arg, m.Arg(m.Integer("1") | m.Integer("2"), m.Name("dim"))):
                yield arg, arg.with_changes(value=cst.Integer("0"))


def scale_dropped(module: cst.Module) -> Iterator[Edit]:
    """`q @ k.transpose(-2, -1) / math.sqrt(width)` without the division."""
    for both in within(module, cst.BinaryOperation):
        if not isinstance(both.operator, cst.Divide):
            continue
        product, width = module.code_for_node(both.left), module.code_for_node(both.right)
        is_product = "matmul(" in product or " @ " in product or "bmm(" in product
        if is_product and "transpose(" in product and "sqrt(" in width:
            yield both, both.left


def batch_first_dropped(module: cst.Module) -> Iterator[Edit]:
    """Of recurrent layers and of attention whose input has the batch first. A layer that is given its first state fails at once
    without it, and one that is given packed sequences does not care."""
    if "pack_padded_sequence" in module.code or not within(module, cst.ClassDef):
        return
    kinds = ("LSTM", "GRU", "RNN", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer")
    for call in calls_in(module):
        kept = [one for one in call.args if not m.matches(one, m.Arg(m.Name("True"), m.Name("batch_first")))]
        if last_name(call) in kinds and len(kept) < len(call.args) and _is_called_plainly(module, call):
            kept[-1:] = [kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)] if kept else []
            yield call, call.with_changes(args=kept)


def _is_called_plainly(module: cst.Module, layer: cst.Call) -> bool:
    """Whether a layer is called by its name, and if it is a recurrent one, with its input alone."""
    is_recurrent = last_name(layer) in ("LSTM", "GRU", "RNN")
    names = {
        target
        for function in functions(module)
        for one in assigned_calls(function)
        if one.found.call is layer
        for target in one.targets
    }
    used = [one for one in calls_in(module) if full_name(one) in names]
    return not names or (bool(used) and all(len(one.args) == 1 or not is_recurrent for one in used))


def dropout_always_on(module: cst.Module) -> Iterator[Edit]:
    """`F.dropout(x, p, training=self.training)` without its last argument."""
    for call in calls_in(module):
        if full_name(call) not in ("F.dropout", "nn.functional.dropout"):
            continue
        kept = [one for one in call.args if not (one.keyword and one.keyword.value == "training")]
        if 0 < len(kept) < len(call.args) and "training" in module.code_for_node(call).rpartition("=")[2]:
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            yield call, call.with_changes(args=kept)


def dropout_discarded(module: cst.Module) -> Iterator[Edit]:
    """`x = self.dropout(x)` becomes `self.dropout(x)`, which changes nothing."""
    for function in functions(module):
        for one in assigned_calls(function):
            call = one.found.call
            is_layer = full_name(call).startswith("self.") and "drop" in last_name(call).lower()
            if (
                is_layer
                and len(call.args) == 1
                and one.targets == (module.code_for_node(call.args[0].value),)
            ):
                text = module.code_for_node(call)
                yield one.found.replaced([cst.parse_statement(text)])
