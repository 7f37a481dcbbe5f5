"""What the operators of bench/injections.py share: edits, the statements of a function, and the losses of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import libcst as cst
import libcst.matchers as m
from libcst.helpers import get_full_name_for_node

Edit = tuple[cst.CSTNode, cst.CSTNode]
"""What is to be replaced, and by what."""
Edits = Callable[[cst.Module], Iterator[Edit]]
Block = cst.IndentedBlock | cst.Module


class Operator(NamedTuple):
    edits: Edits
    codes: tuple[str, ...]
    """Rules of which one is to find the bug."""
    word: str
    """A pattern that stands in each file with something to edit."""
    harms: Callable[[Edit, str, Sequence[str]], bool] = lambda edit, text, texts: True
    """Whether an edit of a file with this text does harm in a repository with these texts."""


def parsed(*statements: str) -> list[cst.BaseStatement]:
    return [cst.parse_statement(one) for one in statements]


Node = TypeVar("Node", bound=cst.CSTNode)


@lru_cache(maxsize=1_000_000)
def _children(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    return tuple(node.children)


@lru_cache(maxsize=10_000)
def _below(node: cst.CSTNode) -> list[cst.CSTNode]:
    """A node and all within it, in the order of the text."""
    found, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting.extend(reversed(_children(one)))
    return found


def within(node: cst.CSTNode, kind: type[Node]) -> list[Node]:
    return [one for one in _below(node) if isinstance(one, kind)]


def calls_in(node: cst.CSTNode) -> list[cst.Call]:
    return within(node, cst.Call)


def full_name(call: cst.Call) -> str:
    return get_full_name_for_node(call.func) or ""


def last_name(call: cst.Call) -> str:
    """The last part of the name of what is called, also where it is called on an expression."""
    func = call.func
    return func.attr.value if isinstance(func, cst.Attribute) else full_name(call)


def functions(module: cst.Module) -> list[cst.CSTNode]:
    """Functions, and the file without them."""
    return [*within(module, cst.FunctionDef), module]


_ELSEWHERE = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


@lru_cache(maxsize=10_000)
def _blocks(function: cst.CSTNode) -> list[Block]:
    """The blocks of a function or file, without those of functions and classes in it."""
    body = function.body if isinstance(function, cst.FunctionDef) else function
    found, waiting = [], [body]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (cst.IndentedBlock, cst.Module)):
            found.append(one)
        waiting.extend(each for each in reversed(_children(one)) if not isinstance(each, _ELSEWHERE))
    return found


class Found(NamedTuple):
    block: Block
    position: int
    call: cst.Call

    @property
    def statement(self) -> cst.BaseStatement:
        return self.block.body[self.position]

    def replaced(self, statements: Sequence[cst.BaseStatement]) -> Edit:
        """The block with other statements in this one's place."""
        body = [*self.block.body[: self.position], *statements, *self.block.body[self.position + 1 :]]
        return self.block, self.block.with_changes(body=body or parsed("pass"))

    def moved(self, to: int) -> Edit:
        """The block with this statement at another position."""
        body = list(self.block.body)
        body.insert(to, body.pop(self.position))
        return self.block, self.block.with_changes(body=body)


def _small(function: cst.CSTNode) -> Iterator[tuple[Block, int, cst.BaseSmallStatement]]:
    """The statements of a function that have a line for themselves."""
    for block in _blocks(function):
        for position, one in enumerate(block.body):
            if isinstance(one, cst.SimpleStatementLine) and len(one.body) == 1:
                yield block, position, one.body[0]


def statements(function: cst.CSTNode, name: str) -> list[Found]:
    """The statements of a function that only call what has this name, as a function or a method."""
    return [
        Found(block, position, one.value)
        for block, position, one in _small(function)
        if isinstance(one, cst.Expr) and isinstance(one.value, cst.Call) and last_name(one.value) == name
    ]


def calls(function: cst.CSTNode, method: str) -> list[Found]:
    """The same of methods alone."""
    return [one for one in statements(function, method) if isinstance(one.call.func, cst.Attribute)]


class Assigned(NamedTuple):
    found: Found
    targets: tuple[str, ...]


def assigned_calls(function: cst.CSTNode) -> Iterator[Assigned]:
    """The statements of a function that assign the result of one call to names or attributes."""
    for block, position, one in _small(function):
        if isinstance(one, cst.Assign) and isinstance(one.value, cst.Call):
            names = tuple(get_full_name_for_node(each.target) or "" for each in one.targets)
            yield Assigned(Found(block, position, one.value), names)


class Loop(NamedTuple):
    """The three statements of a function that has one of each."""

    function: cst.CSTNode
    clear: Found
    backward: Found
    step: Found


def _steps_optimizer(call: cst.Call) -> bool:
    owner = full_name(call).lower()
    return "opt" in owner and "sched" not in owner and "lr" not in owner


@lru_cache(maxsize=2)
def loops(module: cst.Module) -> list[Loop]:
    return list(_each_loop(module))


def _each_loop(module: cst.Module) -> Iterator[Loop]:
    for function in functions(module):
        clears, backwards = calls(function, "zero_grad"), calls(function, "backward")
        steps = [one for one in calls(function, "step") if _steps_optimizer(one.call)]
        if len(clears) == len(backwards) == len(steps) == 1:
            yield Loop(function, clears[0], backwards[0], steps[0])


def loss_name(call: cst.Call) -> str | None:
    """The name that backward runs on: `loss` in `loss.backward()` and in `accelerator.backward(loss)`."""
    given = call.args[0].value if call.args and not call.args[0].keyword else None
    owner = given or (call.func.value if isinstance(call.func, cst.Attribute) else None)
    return owner.value if isinstance(owner, cst.Name) else None


_FUNCTIONS = {
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "BCELoss": "binary_cross_entropy",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "KLDivLoss": "kl_div",
}


@lru_cache(maxsize=8)
def losses(module: cst.Module, kinds: tuple[str, ...]) -> list[cst.Call]:
    return list(_each_loss(module, kinds))


def _each_loss(module: cst.Module, kinds: tuple[str, ...]) -> Iterator[cst.Call]:
    """Calls of losses with two positional arguments, by the names that the file binds to losses of a kind."""
    names = {f"{space}.{_FUNCTIONS[kind]}" for kind in kinds for space in ("F", "nn.functional")}
    bound: set[str] = set()
    for one in within(module, cst.Assign):
        made = get_full_name_for_node(one.value.func) if isinstance(one.value, cst.Call) else None
        if made and made.rpartition(".")[2] in kinds:
            bound |= {get_full_name_for_node(target.target) or "" for target in one.targets}
    passed = {one.rpartition(".")[2] for one in bound} - {""}
    for call in calls_in(module):
        name = full_name(call)
        known = name in names or name.rpartition(".")[2] in passed
        if known and len(call.args) >= 2 and not any(arg.keyword or arg.star for arg in call.args[:2]):
            yield call


def trained_calls(module: cst.Module) -> set[int]:
    """The identities of calls in assignments to a name on which the same block later runs backward: nothing is lost in
    an evaluation."""
    trained: set[int] = set()
    for function in functions(module):
        for backward in calls(function, "backward"):
            name = loss_name(backward.call)
            target = m.Assign([m.AssignTarget(m.Name(name))]) if name else m.Pass()
            for one in backward.block.body[: backward.position]:
                if m.matches(one, m.SimpleStatementLine([target])):
                    trained |= {id(call) for call in calls_in(one)}
    return trained
