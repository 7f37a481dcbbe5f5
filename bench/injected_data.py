"""Bugs of data: the order of samples, and where batches lie."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m
from injected_edits import Edit, assigned_calls, calls, calls_in, full_name, functions, last_name, within

_SHUFFLED = m.Arg(keyword=m.Name("shuffle"), value=m.Name("True"))


_MIXES = ("random_split", "train_test_split", ".shuffle(", "permutation(", "randperm(")


def shuffle_off(module: cst.Module) -> Iterator[Edit]:
    """But of what is mixed already, and only where a file trains, or hands its loaders to one that does."""
    hands_over = ".backward(" in module.code or any(
        one.value is not None for one in within(module, cst.Return)
    )
    if any(one in module.code for one in _MIXES) or not hands_over:
        return
    for call in calls_in(module):
        if not any(m.matches(arg, _SHUFFLED) for arg in call.args):
            continue
        text = module.code_for_node(call).lower().replace("train=false", "")
        if full_name(call).endswith("DataLoader") and "train" in text:
            args = [
                arg.with_changes(value=cst.Name("False")) if m.matches(arg, _SHUFFLED) else arg
                for arg in call.args
            ]
            yield call, call.with_changes(args=args)


def is_used(edit: Edit, text: str, texts: Sequence[str]) -> bool:
    """Whether the name that a loader gets stands anywhere else in its file, or is imported."""
    call = cst.Module([]).code_for_node(edit[0])
    name = re.search(rf"(\w+)\s*=\s*{re.escape(call)}", text)
    if name is None or len(re.findall(rf"\b{name[1]}\b", text)) > 1:
        return True
    return any(re.search(rf"^from .* import .*\b{name[1]}\b", one, re.MULTILINE) for one in texts)


def set_epoch_dropped(module: cst.Module) -> Iterator[Edit]:
    for function in functions(module):
        for one in calls(function, "set_epoch"):
            if "sampler" in full_name(one.call):
                yield one.replaced([])


def batch_not_moved(module: cst.Module) -> Iterator[Edit]:
    """`x = x.to(device)` becomes `x.to(device)`, where a loop takes a batch apart: `for x, y in loader`."""
    for each in within(module, cst.For):
        parts = (
            {one.value for one in within(each.target, cst.Name)} if isinstance(each.target, cst.Tuple) else ()
        )
        for one in assigned_calls(each):
            call = one.found.call
            owner = full_name(call).rpartition(".")[0]
            is_moved = last_name(call) in ("to", "cuda") and one.targets == (owner,)
            if is_moved and owner in parts and "loader" in module.code_for_node(each.iter).lower():
                yield one.found.replaced([cst.parse_statement(module.code_for_node(call))])
