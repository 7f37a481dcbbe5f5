"""Bugs of the loop: the order of its statements, the modes of its models, and what happens once per epoch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst
import libcst.matchers as m
from injected_edits import (
    Edit,
    Edits,
    Found,
    assigned_calls,
    calls,
    calls_in,
    full_name,
    functions,
    last_name,
    loops,
    loss_name,
    parsed,
    statements,
    within,
)


def zero_grad_dropped(module: cst.Module) -> Iterator[Edit]:
    for one in loops(module):
        yield one.clear.replaced([])


def step_dropped(module: cst.Module) -> Iterator[Edit]:
    for one in loops(module):
        yield one.step.replaced([])


def backward_dropped(module: cst.Module) -> Iterator[Edit]:
    for one in loops(module):
        yield one.backward.replaced([])


def zero_grad_before_step(module: cst.Module) -> Iterator[Edit]:
    for one in loops(module):
        yield one.step.replaced([one.clear.statement, one.step.statement])


def step_before_backward(module: cst.Module) -> Iterator[Edit]:
    for one in loops(module):
        if one.backward.block is one.step.block and one.backward.position < one.step.position:
            yield one.step.moved(one.backward.position)


def clip_after_step(module: cst.Module) -> Iterator[Edit]:
    """Where backward, clipping and step follow each other in one block."""
    for one in loops(module):
        clips = [*statements(one.function, "clip_grad_norm_"), *statements(one.function, "clip_grad_value_")]
        if len(clips) == 1 and clips[0].block is one.step.block is one.backward.block:
            clip = clips[0]
            if one.backward.position < clip.position < one.step.position:
                yield clip.moved(one.step.position)


def scheduler_before_optimizer(module: cst.Module) -> Iterator[Edit]:
    """Of schedules that come from torch: one that is written by hand may set the rate before the step."""
    if "lr_scheduler" not in module.code:
        return
    for one in loops(module):
        for found in calls(one.function, "step"):
            is_schedule = "sched" in full_name(found.call).lower() and not found.call.args
            if is_schedule and found.block is one.step.block and found.position > one.step.position:
                yield found.moved(one.step.position)


def _around_every(function: cst.CSTNode, step: Found, clear: Found) -> cst.IndentedBlock | None:
    """The block that holds the `if i % n == 0` around a step and a zero_grad."""
    for block in within(function, cst.IndentedBlock):
        for one in block.body:
            if isinstance(one, cst.If) and one.body is step.block is clear.block:
                return block if one.orelse is None and within(one.test, cst.Modulo) else None
    return None


def zero_grad_each_micro_batch(module: cst.Module) -> Iterator[Edit]:
    """Where gradients of several batches are accumulated: what all but the last have added is lost."""
    for one in loops(module):
        block = _around_every(one.function, one.step, one.clear)
        if block is not None and one.backward.block is block:
            yield one.backward.replaced([one.clear.statement, one.backward.statement])


_DIVIDED = m.SimpleStatementLine(
    [m.Assign(value=m.BinaryOperation(operator=m.Divide())) | m.AugAssign(operator=m.DivideAssign())]
)


def accumulation_not_averaged(module: cst.Module) -> Iterator[Edit]:
    """Where gradients are clipped too: without clipping, Adam divides by their size."""
    for one in loops(module):
        if "clip_grad" not in module.code_for_node(one.function):
            continue
        block = _around_every(one.function, one.step, one.clear)
        for position, line in enumerate(block.body if block is not None else ()):
            text = module.code_for_node(line).strip()
            if (
                block is not None
                and m.matches(line, _DIVIDED)
                and text.startswith("loss ")
                and "accum" in text
            ):
                yield Found(block, position, one.step.call).replaced([])


_STATEFUL = ("Adam", "AdamW", "RMSprop", "Adamax", "NAdam", "RAdam")


def optimizer_in_the_loop(module: cst.Module) -> Iterator[Edit]:
    """An optimizer with state, made again in each iteration of a loop that steps it."""
    for function in functions(module):
        for made in assigned_calls(function):
            found = made.found
            if last_name(found.call) not in _STATEFUL or len(made.targets) != 1:
                continue
            for later in found.block.body[found.position + 1 :]:
                if isinstance(later, cst.For) and isinstance(later.body, cst.IndentedBlock):
                    stepped = {full_name(call) for call in calls_in(later)}
                    if f"{made.targets[0]}.step" in stepped:
                        body = later.body.with_changes(body=[found.statement, *later.body.body])
                        yield later.body, body
                    break


def optimizer_of_another_model(module: cst.Module) -> Iterator[Edit]:
    """Of two optimizers, each of the whole of one model, the second gets the parameters of the first."""
    for function in functions(module):
        held: list[tuple[cst.Call, str]] = []
        for made in assigned_calls(function):
            call = made.found.call
            first = call.args[0].value if call.args else None
            if (
                "optim" in full_name(call)
                and isinstance(first, cst.Call)
                and last_name(first) == "parameters"
            ):
                held.append((first, full_name(first)))
        if len(held) == 2 and held[0][1] != held[1][1] and not held[1][0].args:
            yield held[1][0], held[0][0]


def _models(module: cst.Module) -> set[str]:
    """Names of what has its mode switched, its parameters listed or its weights loaded somewhere in a file."""
    methods = ("eval", "train", "parameters", "load_state_dict")
    found = {full_name(one).rpartition(".")[::2] for one in calls_in(module)}
    return {owner for owner, method in found if method in methods} - {"", "self"}


def _infers(block: cst.CSTNode, models: set[str]) -> bool:
    """Whether a loop in a block calls a model: without one, there is no graph that costs anything."""
    return any(full_name(one) in models for loop in _loops_in(block) for one in calls_in(loop))


def _loops_in(node: cst.CSTNode) -> list[cst.For | cst.While]:
    return [*within(node, cst.For), *within(node, cst.While)]


_NO_GRAD = m.Call(m.Attribute(attr=m.Name("no_grad")))


def no_grad_dropped(module: cst.Module) -> Iterator[Edit]:
    """Around a loop that calls a model. One that calls another function may find `no_grad` there, and a model's own
    `generate` is for its callers to judge."""
    models = _models(module)
    for block in within(module, cst.With):
        text = module.code_for_node(block.body)
        is_plain = m.matches(block, m.With([m.WithItem(_NO_GRAD)]))
        if is_plain and _infers(block.body, models) and ".data" not in text and "param" not in text:
            yield block, cst.If(test=cst.Name("True"), body=block.body)
    for function in within(module, cst.FunctionDef):
        if m.matches(function, m.FunctionDef(decorators=[m.Decorator(_NO_GRAD)])) and _infers(
            function, models
        ):
            yield function, function.with_changes(decorators=())


@lru_cache(maxsize=2)
def _names_called(module: cst.Module) -> set[str]:
    """The names of what a file calls."""
    return {full_name(one) for one in calls_in(module)}


def mode_dropped(method: str) -> Edits:
    """Where a file has both, and this one once. `train(loader)` and `self.train()` of a trainer are no switches."""

    def edits(module: cst.Module) -> Iterator[Edit]:
        models = _names_called(module)
        found = {
            name: [
                one
                for function in functions(module)
                for one in calls(function, name)
                if not one.call.args and full_name(one.call).rpartition(".")[0] in models
            ]
            for name in ("train", "eval")
        }
        is_alone = bool(found["train"] and found["eval"]) and len(found[method]) == 1
        if is_alone and (method == "eval" or _comes_again(module, found["train"][0])):
            yield found[method][0].replaced([])

    return edits


def _comes_again(module: cst.Module, found: Found) -> bool:
    """Whether a statement is in a loop, or in a function, which others may call again: a new model is in training mode."""
    text = module.code_for_node(found.statement)
    own = [
        one for one in functions(module) if found.block in within(one, cst.BaseSuite) or found.block is one
    ]
    nearest = min(own, key=lambda one: len(module.code_for_node(one)))
    is_in_loop = any(text in module.code_for_node(one) for one in _loops_in(nearest))
    return is_in_loop or (
        isinstance(nearest, cst.FunctionDef) and ".eval()" not in module.code_for_node(nearest)
    )


def item_dropped(module: cst.Module) -> Iterator[Edit]:
    """`total += loss.item()` of a loss that the function trains on keeps the graphs of all iterations."""
    for function in functions(module):
        trained = {loss_name(one.call) for one in calls(function, "backward")}
        sums = [one for one in within(function, cst.AugAssign) if isinstance(one.operator, cst.AddAssign)]
        for found in sums if trained else ():
            for call in calls_in(found.value):
                owner, _, method = full_name(call).rpartition(".")
                if method == "item" and owner in trained and not call.args:
                    yield call, cst.Name(owner)


def weights_not_copied(module: cst.Module) -> Iterator[Edit]:
    """`deepcopy(model.state_dict())` in a loop, without the copy: what is kept changes with the next step."""
    for loop in _loops_in(module):
        for call in calls_in(loop):
            inner = call.args[0].value if len(call.args) == 1 else None
            if (
                last_name(call) == "deepcopy"
                and isinstance(inner, cst.Call)
                and last_name(inner) == "state_dict"
            ):
                yield call, inner


def scaler_call_dropped(method: str) -> Edits:
    def edits(module: cst.Module) -> Iterator[Edit]:
        for function in functions(module):
            found = [one for one in calls(function, method) if "scaler" in full_name(one.call)]
            clips = "clip_grad" in module.code_for_node(function)
            if len(found) == 1 and (method == "update" or clips):
                yield found[0].replaced([])

    return edits


def step_without_scaler(module: cst.Module) -> Iterator[Edit]:
    """`scaler.step(optimizer)` becomes `optimizer.step()`, with gradients that are still scaled."""
    for function in functions(module):
        if ".unscale_(" in module.code_for_node(function):
            continue
        for found in calls(function, "step"):
            if "scaler" in full_name(found.call) and len(found.call.args) == 1:
                owner = module.code_for_node(found.call.args[0].value)
                yield found.replaced(parsed(f"{owner}.step()"))


def loss_not_scaled(module: cst.Module) -> Iterator[Edit]:
    """`scaler.scale(loss).backward()` becomes `loss.backward()`, and the scaler steps all the same."""
    for function in functions(module):
        for found in calls(function, "backward"):
            owner = cst.ensure_type(found.call.func, cst.Attribute).value
            if isinstance(owner, cst.Call) and full_name(owner).endswith("scaler.scale") and owner.args:
                yield owner, owner.args[0].value
