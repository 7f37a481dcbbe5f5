"""Bugs that can be put into a training program, one at a time: each certainly harms training, or an evaluation's memory,
where it applies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import libcst as cst
import libcst.matchers as m
from libcst.helpers import get_full_name_for_node

Edit = tuple[cst.CSTNode, cst.CSTNode]
"""What is to be replaced, and by what."""


class Operator(NamedTuple):
    edits: Callable[[cst.Module], Iterator[Edit]]
    codes: tuple[str, ...]
    """Rules of which one is to find the bug."""


def _parsed(*statements: str) -> list[cst.BaseStatement]:
    return [cst.parse_statement(one) for one in statements]


@lru_cache(maxsize=2)
def _functions(module: cst.Module) -> list[cst.CSTNode]:
    """Functions, and the file without them."""
    return [*m.findall(module, m.FunctionDef()), module]


def _own(function: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes of a function or file, without those of functions and classes in it."""
    for one in function.children:
        if not isinstance(one, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            yield one
            yield from _own(one)


def _body(function: cst.CSTNode) -> list[cst.CSTNode]:
    return list(_own(function.body if isinstance(function, cst.FunctionDef) else function))


Block = cst.IndentedBlock | cst.Module


def _called(statement: cst.CSTNode, method: str) -> cst.Call | None:
    """The call where a statement is `something.method(...)`."""
    if m.matches(statement, m.SimpleStatementLine([m.Expr(m.Call(m.Attribute(attr=m.Name(method))))])):
        return cst.ensure_type(statement.body[0].value, cst.Call)  # type: ignore[attr-defined]
    return None


def _on(call: cst.Call) -> str:
    return get_full_name_for_node(call.func) or ""


def _steps_optimizer(call: cst.Call) -> bool:
    owner = _on(call).lower()
    return "opt" in owner and "sched" not in owner and "lr" not in owner


class _Found(NamedTuple):
    block: Block
    position: int
    call: cst.Call

    def replaced(self, statements: Sequence[cst.BaseStatement]) -> Edit:
        """The block with other statements in this one's place."""
        body = [*self.block.body[: self.position], *statements, *self.block.body[self.position + 1 :]]
        return self.block, self.block.with_changes(body=body or _parsed("pass"))


def _calls(function: cst.CSTNode, method: str) -> list[_Found]:
    blocks = [one for one in _body(function) if isinstance(one, cst.IndentedBlock)]
    if isinstance(function, cst.FunctionDef) and isinstance(function.body, cst.IndentedBlock):
        blocks.append(function.body)
    if isinstance(function, cst.Module):
        blocks.append(function)  # type: ignore[arg-type]
    return [
        _Found(block, position, call)
        for block in blocks
        for position, one in enumerate(block.body)
        if (call := _called(one, method)) is not None
    ]


class _Loop(NamedTuple):
    """The three statements of a function that has one of each."""

    clear: _Found
    backward: _Found
    step: _Found


@lru_cache(maxsize=2)
def _loops(module: cst.Module) -> list[_Loop]:
    return list(_each_loop(module))


def _each_loop(module: cst.Module) -> Iterator[_Loop]:
    for function in _functions(module):
        clears, backwards = _calls(function, "zero_grad"), _calls(function, "backward")
        steps = [one for one in _calls(function, "step") if _steps_optimizer(one.call)]
        if len(clears) == len(backwards) == len(steps) == 1:
            yield _Loop(clears[0], backwards[0], steps[0])


def zero_grad_dropped(module: cst.Module) -> Iterator[Edit]:
    for one in _loops(module):
        yield one.clear.replaced([])


def step_dropped(module: cst.Module) -> Iterator[Edit]:
    for one in _loops(module):
        yield one.step.replaced([])


def backward_dropped(module: cst.Module) -> Iterator[Edit]:
    for one in _loops(module):
        yield one.backward.replaced([])


def zero_grad_before_step(module: cst.Module) -> Iterator[Edit]:
    for one in _loops(module):
        yield one.step.replaced(
            [one.clear.block.body[one.clear.position], one.step.block.body[one.step.position]]
        )


def step_before_backward(module: cst.Module) -> Iterator[Edit]:
    for one in _loops(module):
        block, first, last = one.backward.block, one.backward.position, one.step.position
        if block is one.step.block and first < last:
            body = list(block.body)
            body.insert(first, body.pop(last))
            yield block, block.with_changes(body=body)


def _loss(call: cst.Call) -> str | None:
    """The name that backward runs on: `loss` in `loss.backward()` and in `accelerator.backward(loss)`."""
    given = call.args[0].value if call.args and not call.args[0].keyword else None
    owner = given or (call.func.value if isinstance(call.func, cst.Attribute) else None)
    return owner.value if isinstance(owner, cst.Name) else None


def _before_backward(template: str) -> Callable[[cst.Module], Iterator[Edit]]:
    def edits(module: cst.Module) -> Iterator[Edit]:
        for one in _loops(module):
            name = _loss(one.backward.call)
            if name:
                backward = one.backward.block.body[one.backward.position]
                yield one.backward.replaced([*_parsed(template.format(name)), backward])

    return edits


@lru_cache(maxsize=8)
def _losses(module: cst.Module, kinds: tuple[str, ...]) -> list[cst.Call]:
    return list(_each_loss(module, kinds))


def _each_loss(module: cst.Module, kinds: tuple[str, ...]) -> Iterator[cst.Call]:
    """Calls of losses with two positional arguments, by the names that the file binds to losses of a kind."""
    names = {f"F.{kind[1]}" for kind in map(_both, kinds)} | {
        f"nn.functional.{kind[1]}" for kind in map(_both, kinds)
    }
    for one in m.findall(module, m.Assign()):
        value = cst.ensure_type(one, cst.Assign).value
        made = get_full_name_for_node(value.func) if isinstance(value, cst.Call) else None
        if made and made.rpartition(".")[2] in kinds:
            names |= {get_full_name_for_node(target.target) or "" for target in one.targets}  # type: ignore[attr-defined]
    passed = {one.rpartition(".")[2] for one in names if "functional" not in one and "F." not in one} - {""}
    for found in m.findall(module, m.Call()):
        call = cst.ensure_type(found, cst.Call)
        name = _on(call)
        known = name in names or name.rpartition(".")[2] in passed
        if known and len(call.args) >= 2 and not any(arg.keyword or arg.star for arg in call.args[:2]):
            yield call


def _both(kind: str) -> tuple[str, str]:
    return kind, {
        "CrossEntropyLoss": "cross_entropy",
        "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    }.get(kind, "nll_loss")


def _around(kinds: tuple[str, ...], template: str) -> Callable[[cst.Module], Iterator[Edit]]:
    def edits(module: cst.Module) -> Iterator[Edit]:
        for call in _losses(module, kinds):
            text = template.format(module.code_for_node(call.args[0].value))
            changed = call.args[0].with_changes(value=cst.parse_expression(text))
            yield call, call.with_changes(args=[changed, *call.args[1:]])

    return edits


def outputs_detached(module: cst.Module) -> Iterator[Edit]:
    """Only where the loss is the name that the same block runs backward on: nothing is lost in an evaluation."""
    kinds = ("CrossEntropyLoss", "MSELoss", "BCELoss", "BCEWithLogitsLoss")
    trained: set[int] = set()
    for function in _functions(module):
        for backward in _calls(function, "backward"):
            name = _loss(backward.call)
            for one in backward.block.body[: backward.position] if name else ():
                if m.matches(one, m.SimpleStatementLine([m.Assign([m.AssignTarget(m.Name(name))])])):
                    trained |= {id(call) for call in m.findall(one, m.Call())}
    for old, new in _around(kinds, "({0}).detach()")(module):
        if id(old) in trained:
            yield old, new


def loss_arguments_swapped(module: cst.Module) -> Iterator[Edit]:
    for call in _losses(module, ("CrossEntropyLoss", "NLLLoss")):
        first, second, *more = call.args
        swapped = [first.with_changes(value=second.value), second.with_changes(value=first.value), *more]
        yield call, call.with_changes(args=swapped)


def _models(module: cst.Module) -> set[str]:
    """Names of what has its mode switched, its parameters listed or its weights loaded somewhere in a file."""
    methods = ("eval", "train", "parameters", "load_state_dict")
    found = m.findall(module, m.Call(m.Attribute(attr=m.OneOf(*map(m.Name, methods)))))
    return {_on(cst.ensure_type(one, cst.Call)).rpartition(".")[0] for one in found} - {"", "self"}


def _infers(block: cst.CSTNode, models: set[str]) -> bool:
    """Whether a loop in a block calls a model: without one, there is no graph that costs anything."""
    loops = m.findall(block, m.For() | m.While())
    return any(
        _on(cst.ensure_type(one, cst.Call)) in models for loop in loops for one in m.findall(loop, m.Call())
    )


_NO_GRAD = m.With([m.WithItem(m.Call(m.Attribute(attr=m.Name("no_grad"))))])


def no_grad_dropped(module: cst.Module) -> Iterator[Edit]:
    """Around a loop that calls a model. One that calls another function may find `no_grad` there, and a model's own
    `generate` is for its callers to judge."""
    if "no_grad" not in module.code:
        return
    models = _models(module)
    for found in m.findall(module, _NO_GRAD):
        block = cst.ensure_type(found, cst.With).body
        text = module.code_for_node(block)
        if _infers(block, models) and ".data" not in text and "param" not in text:
            yield found, cst.If(test=cst.Name("True"), body=block)
    for found in m.findall(
        module, m.FunctionDef(decorators=[m.Decorator(m.Call(m.Attribute(attr=m.Name("no_grad"))))])
    ):
        if _infers(found, models):
            yield found, found.with_changes(decorators=())


@lru_cache(maxsize=2)
def _names_called(module: cst.Module) -> set[str]:
    """The names of what a file calls."""
    return {_on(cst.ensure_type(one, cst.Call)) for one in m.findall(module, m.Call())}


def _mode_dropped(method: str) -> Callable[[cst.Module], Iterator[Edit]]:
    """Where a file has both, and this one once. `train(loader)` and `self.train()` of a trainer are no switches."""

    def edits(module: cst.Module) -> Iterator[Edit]:
        models = _names_called(module)
        found = {
            name: [
                one
                for function in _functions(module)
                for one in _calls(function, name)
                if not one.call.args and _on(one.call).rpartition(".")[0] in models
            ]
            for name in ("train", "eval")
        }
        if found["train"] and found["eval"] and len(found[method]) == 1:
            yield found[method][0].replaced([])

    return edits


_SHUFFLED = m.Arg(keyword=m.Name("shuffle"), value=m.Name("True"))


def shuffle_off(module: cst.Module) -> Iterator[Edit]:
    for one in m.findall(module, m.Call(args=[m.ZeroOrMore(), _SHUFFLED, m.ZeroOrMore()])):
        call = cst.ensure_type(one, cst.Call)
        text = module.code_for_node(call).lower().replace("train=false", "")
        if _on(call).endswith("DataLoader") and "train" in text:
            args = [
                arg.with_changes(value=cst.Name("False")) if m.matches(arg, _SHUFFLED) else arg
                for arg in call.args
            ]
            yield call, call.with_changes(args=args)


def plain_list(module: cst.Module) -> Iterator[Edit]:
    """Of lists that become attributes: a `ModuleDict` would refuse one."""
    kept = m.Assign(value=m.Call(m.Attribute(attr=m.Name("ModuleList")), [m.Arg()]))
    for one in m.findall(module, kept):
        call = cst.ensure_type(cst.ensure_type(one, cst.Assign).value, cst.Call)
        yield call, cst.Call(cst.Name("list"), call.args)


def super_init_dropped(module: cst.Module) -> Iterator[Edit]:
    for function in m.findall(module, m.FunctionDef(m.Name("__init__"))):
        for one in _calls(function, "__init__"):
            if "super" in module.code_for_node(one.call) and "nn." in module.code_for_node(function):
                yield one.replaced([])


def mask_diagonal(module: cst.Module) -> Iterator[Edit]:
    for one in m.findall(module, m.Call(m.Attribute(attr=m.Name("triu")) | m.Name("triu"))):
        call = cst.ensure_type(one, cst.Call)
        for arg in call.args:
            if m.matches(arg, m.Arg(m.Integer("1"))):
                yield arg, arg.with_changes(value=cst.Integer("0"))
    for one in m.findall(module, m.Call(m.Attribute(attr=m.Name("tril")), [m.Arg(keyword=None)])):
        call = cst.ensure_type(one, cst.Call)
        yield call, call.with_changes(args=[*call.args, cst.parse_expression("f(diagonal=1)").args[0]])  # type: ignore[attr-defined]


def mask_filled_with_zero(module: cst.Module) -> Iterator[Edit]:
    for one in m.findall(
        module, m.Call(m.Attribute(attr=m.OneOf(m.Name("masked_fill"), m.Name("masked_fill_"))))
    ):
        call = cst.ensure_type(one, cst.Call)
        if len(call.args) == 2 and any(
            sign in module.code_for_node(call.args[1]) for sign in ("inf", "e9", "-1e", "min")
        ):
            yield call.args[1], call.args[1].with_changes(value=cst.Integer("0"))


def _scaler(method: str) -> Callable[[cst.Module], Iterator[Edit]]:
    def edits(module: cst.Module) -> Iterator[Edit]:
        for function in _functions(module):
            found = [one for one in _calls(function, method) if "scaler" in _on(one.call)]
            clips = "clip_grad" in module.code_for_node(function)
            if len(found) == 1 and (method == "update" or clips):
                yield found[0].replaced([])

    return edits


_CUT = ("TL201", "TL202", "TL203", "TL208")
OPERATORS = {
    "zero_grad dropped": Operator(zero_grad_dropped, ("TL301",)),
    "zero_grad before step": Operator(zero_grad_before_step, ("TL302",)),
    "step dropped": Operator(step_dropped, ("TL305", "TL304")),
    "backward dropped": Operator(backward_dropped, ("TL306",)),
    "step before backward": Operator(step_before_backward, ("TL303", "TL302")),
    "loss detached": Operator(_before_backward("{0} = {0}.detach().requires_grad_()"), _CUT),
    "loss rebuilt": Operator(_before_backward("{0} = torch.tensor({0}.item(), requires_grad=True)"), _CUT),
    "outputs detached": Operator(outputs_detached, _CUT),
    "softmax at the loss": Operator(_around(("CrossEntropyLoss",), "({0}).softmax(dim=1)"), ("TL101",)),
    "sigmoid at the loss": Operator(_around(("BCEWithLogitsLoss",), "torch.sigmoid({0})"), ("TL104",)),
    "loss arguments swapped": Operator(loss_arguments_swapped, ("TL110",)),
    "no_grad dropped": Operator(no_grad_dropped, ("TL312",)),
    "train() dropped": Operator(_mode_dropped("train"), ("TL310",)),
    "eval() dropped": Operator(_mode_dropped("eval"), ("TL311",)),
    "shuffle off": Operator(shuffle_off, ("TL502",)),
    "plain list of layers": Operator(plain_list, ("TL901",)),
    "super().__init__() dropped": Operator(super_init_dropped, ("TL902",)),
    "mask diagonal": Operator(mask_diagonal, ("TL603",)),
    "mask filled with 0": Operator(mask_filled_with_zero, ("TL601",)),
    "scaler.update dropped": Operator(_scaler("update"), ("TL405",)),
    "unscale_ dropped": Operator(_scaler("unscale_"), ("TL404",)),
}
