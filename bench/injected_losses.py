"""Bugs between the model and the loss: what the loss is given, and which loss it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst
from injected_edits import (
    Edit,
    Edits,
    calls_in,
    full_name,
    last_name,
    loops,
    loss_name,
    losses,
    parsed,
    trained_calls,
    within,
)


def before_backward(template: str) -> Edits:
    def edits(module: cst.Module) -> Iterator[Edit]:
        for one in loops(module):
            name = loss_name(one.backward.call)
            if name:
                yield one.backward.replaced([*parsed(template.format(name)), one.backward.statement])

    return edits


def around(kinds: tuple[str, ...], template: str) -> Edits:
    def edits(module: cst.Module) -> Iterator[Edit]:
        for call in losses(module, kinds):
            text = template.format(module.code_for_node(call.args[0].value))
            changed = call.args[0].with_changes(value=cst.parse_expression(text))
            yield call, call.with_changes(args=[changed, *call.args[1:]])

    return edits


def around_trained(kinds: tuple[str, ...], template: str) -> Edits:
    """Only where the loss is the name that the same block runs backward on: nothing is lost in an evaluation."""

    def edits(module: cst.Module) -> Iterator[Edit]:
        trained = trained_calls(module)
        for old, new in around(kinds, template)(module):
            if id(old) in trained:
                yield old, new

    return edits


def arguments_swapped(kinds: tuple[str, ...]) -> Edits:
    def edits(module: cst.Module) -> Iterator[Edit]:
        for call in losses(module, kinds):
            first, second, *more = call.args
            swapped = [first.with_changes(value=second.value), second.with_changes(value=first.value), *more]
            yield call, call.with_changes(args=swapped)

    return edits


def divergence_arguments_swapped(module: cst.Module) -> Iterator[Edit]:
    """Where the input is written as a log_softmax, and the target is not."""
    for old, new in arguments_swapped(("KLDivLoss",))(module):
        call = cst.ensure_type(old, cst.Call)
        first, second = (module.code_for_node(arg) for arg in call.args[:2])
        if "log_softmax" in first and "log" not in second:
            yield old, new


def loss_replaced(before: str, after: str, allowed: frozenset[str]) -> Edits:
    """`nn.X(...)` becomes `nn.Y(...)`, with arguments that both have."""

    def edits(module: cst.Module) -> Iterator[Edit]:
        for call in calls_in(module):
            keywords = {arg.keyword.value if arg.keyword else None for arg in call.args}
            name = full_name(call)
            if name in (f"nn.{before}", f"torch.nn.{before}") and keywords <= allowed:
                func = cst.parse_expression(f"{name.rpartition('.')[0]}.{after}")
                yield call, call.with_changes(func=func)

    return edits


TO_NLL = loss_replaced("CrossEntropyLoss", "NLLLoss", frozenset(("weight", "ignore_index", "reduction")))
TO_BCE = loss_replaced("BCEWithLogitsLoss", "BCELoss", frozenset(("reduction",)))
SAYS_LOG_SOFTMAX = re.compile(rb"log_?softmax", re.IGNORECASE)
SAYS_CROSS_ENTROPY = re.compile(rb"cross_?entropy", re.IGNORECASE)
SAYS_NLL = re.compile(rb"nll_?loss", re.IGNORECASE)


def log_softmax_dropped(module: cst.Module) -> Iterator[Edit]:
    """What a function returns, without its log_softmax."""
    for found in within(module, cst.Return):
        call = found.value
        if (
            isinstance(call, cst.Call)
            and last_name(call) == "log_softmax"
            and call.args
            and full_name(call).startswith(("F.", "nn.", "torch."))
        ):
            yield call, call.args[0].value
