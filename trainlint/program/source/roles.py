"""What plain names and attributes of `self` are, by what code does with them.

A function that is handed a model, an optimizer and a loader says so by its calls: what is called and has its mode
switched is a module, what clears gradients and steps is an optimizer. One walk over a function, or over all methods of a
class, collects what is done to each name; a name alone decides nothing, but may tell a scheduler from an optimizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from trainlint.program.source import syntax as s
from trainlint.program.source.own_losses import giving_loss
from trainlint.program.source.spelling import spelled
from trainlint.program.source.walking import walk

Role = Literal["module", "optimizer", "scheduler", "scaler", "accelerator", "loss", "target", "batch"]

_OF_MODULES = frozenset(
    "train eval parameters named_parameters state_dict load_state_dict zero_grad requires_grad_ modules children "
    "named_modules register_forward_hook half bfloat16".split()
)
_OF_MODULES_ALONE = frozenset(("parameters", "named_parameters"))
_SWITCHES = frozenset(("train", "eval"))
_KEEPS = frozenset("to cuda cpu float long view reshape flatten squeeze unsqueeze transpose permute".split())
_OF_TENSORS = frozenset(
    "argmax mean sum max min amax amin abs exp log pow sqrt clamp round sign norm detach contiguous double half bool int".split()
)
_OF_SCALERS = frozenset(("unscale_", "update", "step"))
_OF_ACCELERATORS = frozenset(
    "gather gather_for_metrics unwrap_model wait_for_everyone accumulate clip_grad_norm_ clip_grad_value_ backward".split()
)
_OF_SCHEDULERS = frozenset(("get_last_lr", "get_lr"))
_OF_TRAINING = frozenset("zero_grad step train eval parameters load_state_dict unscale_".split())
_TELLING = frozenset(("zero_grad", "step", "scale", "unscale_", "update", "prepare"))
_OPTIMIZER = re.compile(r"opt(im(izer)?)?s?\d?$|optim(izer)?[_\d]|^opt_|_opt_")
_SCHEDULER = re.compile(r"sched|warmup|annea", re.IGNORECASE)
_OF_OTHER_NUMBERS = re.compile(
    r"(^|_)(eps|epsilon|exploration|beta|kl|tau|temp|temperature|noise|teacher_?forcing|entropy)_(sched|warmup|annea)"
)
"""What a schedule is called that moves another number than a learning rate."""
_LOSS = re.compile(r"(^|_)(criterion|loss_?f(n|unc|unction))$")
"""What nothing but a loss function is called."""


class Part(NamedTuple):
    """What a name stands for; `shown_by` are the uses that say so, `switches` are `train` and `eval`, as far as it is
    switched. What is only called may be any function, unless it `has_methods` of its role."""

    role: Role
    shown_by: str
    switches: frozenset[str] = frozenset()
    has_methods: bool = True


@dataclass
class _Use:
    """What is done to one name.

    Args:
        methods: the methods that are called on it.
        calls: with how many arguments it is called.
        backward: whether backward runs on what calling it gives.
        compared: it is the second argument of a call on whose result backward runs.
        predicts: backward runs on what a function makes of what calling it gives, and of no other call.
        gives: `step` returns something that is used, as that of a schedule of another number than a learning rate.
        tells: what `step` returns is a condition, as of a counter that says whether it is time; that of an optimizer is
            the loss, or nothing.
    """

    methods: set[str] = field(default_factory=set)
    calls: set[int] = field(default_factory=set)
    backward: bool = False
    compared: bool = False
    predicts: bool = False
    gives: bool = False
    tells: bool = False


def roles(block: s.Block) -> Mapping[str, Part]:
    """What code makes clear, by how it is written: `net`, `self.net`, `parts[net]`."""
    uses = _Uses()
    uses.block(block)
    return _known(uses)


def _known(uses: _Uses) -> Mapping[str, Part]:
    found = {}
    for name, use in uses.by_name.items():
        role = _role(name.rpartition(".")[2].rpartition("[")[2].rstrip("]"), use)
        if role is not None:
            found[name] = Part(role, _shown(name, role, use), _SWITCHES & use.methods, bool(use.methods))
    for scaler, names in uses.scaled.items():
        name = next(iter(names))
        if len(names) == 1 and name not in found and scaler in found and found[scaler].role == "scaler":
            found[name] = Part("optimizer", f"`{scaler}.step({name})`")
    if uses.runs_backward:
        found |= _batches(uses, found)
    return found


def _batches(uses: _Uses, known: Mapping[str, Part]) -> dict[str, Part]:
    """Plain names whose entries a model is called with in code that runs backward: data, of which nobody wants a gradient."""
    found = {}
    for name, called in uses.feeds():
        is_fed = called in known and known[called].role == "module"
        if is_fed and name not in known and name.isidentifier():
            found[name] = Part("batch", f"`{called}(…)`, which is given its entries")
    return found


def is_named_scheduler(name: str) -> bool:
    """Whether a name is one of a scheduler, as far as a name can tell."""
    return _SCHEDULER.search(name) is not None


def unclear(function: s.Function) -> tuple[str, ...]:
    """Names that are used as parts of training are in a function, and of which nothing says what part."""
    if _OF_TRAINING.isdisjoint(function.names):
        return ()
    uses = _Uses()
    uses.block(function.body)
    known = _known(uses)
    return tuple(
        name for name, use in uses.by_name.items() if name not in known and use.methods & _OF_TRAINING
    )


def _shown(name: str, role: Role, use: _Use) -> str:
    """The uses that give a name its role, as they are written."""
    match role:
        case "loss":
            return f"`{name}(…)`, " + ("whose result runs backward" if use.backward else "as it is called")
        case "target":
            return "the loss that it is compared in"
        case "module":
            methods = sorted(use.methods & (_OF_MODULES | _OF_MODULES_ALONE))[:1]
            called = f"`{name}(…)`" if methods else f"`{name}(…)`, which is what the loss gets"
            return " and ".join((called,) * bool(use.calls) + tuple(f"`{name}.{one}()`" for one in methods))
        case _:
            methods = sorted(use.methods & _TELLING) or sorted(use.methods)[:1]
            return " and ".join(f"`{name}.{method}()`" for method in methods)


def _role(name: str, use: _Use) -> Role | None:
    if use.methods >= {"zero_grad", "step"}:
        return "optimizer"
    if "prepare" in use.methods and use.methods & _OF_ACCELERATORS and not use.calls:
        return "accelerator"
    if use.methods & {"scale", "unscale_"} and use.methods & _OF_SCALERS:
        return "scaler"
    if "step" in use.methods and not use.calls:
        is_named = is_named_scheduler(name) and not use.gives and not _OF_OTHER_NUMBERS.search(name)
        if use.methods & _OF_SCHEDULERS or is_named:
            return "scheduler"
        return "optimizer" if _OPTIMIZER.search(name.lower()) and not use.tells else None
    if (use.calls and use.methods & _OF_MODULES) or use.methods & _OF_MODULES_ALONE:
        return "module"
    if "zero_grad" in use.methods and _OPTIMIZER.search(name.lower()):
        return "optimizer"
    if use.backward and not use.methods and use.calls == {2}:
        return "loss"
    if _LOSS.search(name.lower()) and not use.methods - _KEEPS and use.calls and min(use.calls) >= 2:
        return "loss"
    if use.predicts and not use.backward and not use.methods:
        return "module"
    if use.compared and not use.calls:
        return "target"
    return None


class _Uses:
    """A walk over code."""

    def __init__(self) -> None:
        self.by_name: dict[str, _Use] = {}
        self._held: dict[str, list[s.Expr]] = {}
        """What a local name may hold."""
        self._runs: list[s.Call] = []
        """The calls of `backward`."""
        self._ignored: set[int] = set()
        """The calls whose results nothing uses."""
        self._asked: set[int] = set()
        """The calls whose results are conditions."""
        self._given: list[tuple[str, tuple[s.Argument, ...]]] = []
        """What names are called with."""
        self.scaled: dict[str, set[str]] = {}
        """The names that are given to a method `step`, by its owner."""
        self._unpacked: dict[str, str] = {}
        """Names that hold an entry of what another one holds, by `x, y = batch`."""
        self._entries: dict[str, list[s.Expr]] = {}
        """What is put into the entries of what a name holds, by `losses["boxes"] = loss`."""
        self._returned: dict[str, s.Call] = {}
        """Names that hold one of several things that a call returns, by `loss, scores = step(batch)`."""

    @property
    def runs_backward(self) -> bool:
        return bool(self._runs)

    def block(self, block: s.Block) -> None:
        for node in walk(block):
            if isinstance(node, s.Assign):
                self._made_as(node)
            match node:
                case s.Assign(targets=(s.Collection(items=names),), value=value) if value is not None:
                    self._unpack(names, value)
                case s.Assign(targets=(s.Name(name=name),), value=value) if value is not None:
                    self._held.setdefault(name, []).append(value)
                case s.Assign(targets=(s.Subscript(value=s.Name(name=name)),), value=value) if (
                    value is not None
                ):
                    self._entries.setdefault(name, []).append(value)
                case s.Walrus(target=s.Name(name=name), value=value):
                    self._held.setdefault(name, []).append(value)
                case s.AugmentedAssign(target=s.Name(name=name)):
                    self._held.setdefault(name, []).append(node.value)
                case s.Evaluate(value=s.Call() as call):
                    self._ignored.add(id(call))
                case s.If(test=test):
                    self._asked.update(id(one) for one in _conditions(test))
                case s.Call():
                    self._call(node)
        for run in self._runs:
            self._run_backward(run)

    def _made_as(self, node: s.Assign) -> None:
        """`net = load(name).eval().cuda()`: what is switched where it is made is switched."""
        switched = _SWITCHES & set(_gives_itself(node.value))
        if switched and len(node.targets) == 1 and (name := spelled(node.targets[0])) is not None:
            self._of(name).methods |= switched

    def _unpack(self, names: tuple[s.Expr, ...], value: s.Expr) -> None:
        """`x, y = batch`, or `x, y = batch["x"], batch["y"]`."""
        plain = [one.name for one in names if isinstance(one, s.Name)]
        match value:
            case s.Name(name=whole):
                self._unpacked.update(dict.fromkeys(plain, whole))
            case s.Call():
                self._returned.update(dict.fromkeys(plain, value))
            case s.Collection(items=items) if len(items) == len(names) == len(plain):
                for name, item in zip(plain, items, strict=True):
                    self._held.setdefault(name, []).append(item)

    def feeds(self) -> Iterator[tuple[str, str]]:
        """Names, and what is called with entries of what they hold."""
        for called, args in self._given:
            for given in args:
                if (whole := self._whole(given.value)) is not None:
                    yield whole, called

    def _of(self, name: str) -> _Use:
        return self.by_name.setdefault(name, _Use())

    def _call(self, node: s.Call) -> None:
        called = spelled(node.func)
        if called is not None:
            self._of(called).calls.add(len(node.args))
            self._given.append((called, node.args))
        if isinstance(node.func, s.Attribute):
            owner = spelled(node.func.value)
            if owner is not None:
                self._of(owner).methods.add(node.func.name)
                self._of(owner).gives |= node.func.name == "step" and id(node) not in self._ignored
                if (
                    node.func.name == "step"
                    and node.args
                    and (given := spelled(node.args[0].value)) is not None
                ):
                    self.scaled.setdefault(owner, set()).add(given)
                self._of(owner).tells |= node.func.name == "step" and id(node) in self._asked
            if node.func.name == "backward":
                self._runs.append(node)

    def _whole(self, given: s.Expr) -> str | None:
        """The name of what an argument is an entry of: `batch` for `batch["image"].to(device)`."""
        is_entry, seen = False, set[str]()
        while True:
            match given:
                case s.Call(func=s.Attribute(name=name, value=inner)) if name in _KEEPS:
                    given = inner
                case s.Subscript(value=inner, index=s.Constant(value=str() | int())):
                    given, is_entry = inner, True
                case s.Name(name=name) if not is_entry and name in self._unpacked:
                    return self._unpacked[name]
                case s.Name(name=name) if (
                    not is_entry and name not in seen and len(self._held.get(name, ())) == 1
                ):
                    seen.add(name)
                    given = self._held[name][0]
                case s.Name(name=name):
                    return name if is_entry else None
                case _:
                    return None

    def _run_backward(self, node: s.Call) -> None:
        assert isinstance(node.func, s.Attribute)  # `loss.backward()`, `accelerator.backward(loss)`
        begun: list[s.Expr] = [node.func.value, *(one.value for one in node.args[:1])]
        for call in giving_loss(begun, self._held):
            self._of(spelled(call.func) or "").predicts = True
        for loss in self._terms(begun):
            called = spelled(loss.func)
            predicting = {one for given in loss.args for one in self._called_for(given.value)}
            if len(predicting) == 1:
                self._of(predicting.pop()).predicts = True
            if called is None or any(loss is one for one in self._returned.values()):
                continue
            self._of(called).backward = True
            if len(loss.args) >= 2 and (target := spelled(_kept(loss.args[1].value))) is not None:
                self._of(target).compared = True

    def _called_for(self, given: s.Expr) -> Iterator[str]:
        """What is called for an argument: `net` for `net(x)`, `net(x).logits`, and a name that holds either."""
        pending, seen = [given], set()
        while pending:
            match pending.pop():
                case s.Name(name=name) if name not in seen:
                    seen.add(name)
                    pending.extend(self._held.get(name, ()))
                case s.Call(func=s.Attribute(name=name, value=inner)) if (
                    name in _KEEPS or name in _OF_TENSORS or isinstance(inner, s.Call)
                ):
                    pending.append(inner)
                case s.Call(func=s.Attribute(name="log_softmax" | "softmax" | "sigmoid"), args=(first, *_)):
                    pending.append(first.value)
                case s.Call(func=func):
                    yield spelled(func) or ""
                case s.Attribute(value=inner) | s.Subscript(value=inner):
                    pending.append(inner)

    def _terms(self, begun: list[s.Expr]) -> Iterator[s.Call]:
        """The calls of which a value is a sum, scaled or not; through names that hold them."""
        pending, seen = begun, set()
        while pending:
            match pending.pop():
                case s.Name(name=name) if name not in seen:
                    seen.add(name)
                    pending.extend(self._held.get(name, ()))
                    if name in self._returned:
                        pending.append(self._returned[name])
                case s.Call(func=s.Name(name="sum"), args=(s.Argument(value=several), *_)):
                    pending.extend(self._several(several))
                case s.Call(func=s.Attribute(name="scale" | "mean" | "sum" | "backward")) as call:
                    assert isinstance(call.func, s.Attribute)
                    pending.extend([call.func.value, *(one.value for one in call.args[:1])])
                case s.Call() as call:
                    yield call
                case s.Operation(operator="+" | "-" | "*" | "/") as sum_up:
                    pending.extend(sum_up.operands)

    def _several(self, several: s.Expr) -> Iterator[s.Expr]:
        """What stands in a list or a dict whose values are summed up."""
        match several:
            case s.Collection(items=items):
                yield from items
            case s.Call(func=s.Attribute(name="values", value=s.Name(name=name))):
                yield from self._entries.get(name, ())
                for one in self._held.get(name, ()):
                    yield from (value for _, value in one.items) if isinstance(one, s.Mapping) else ()


def _kept(node: s.Expr) -> s.Expr:
    """What is only moved, cast or reshaped: the `y` of `y.float()`."""
    while isinstance(node, s.Call) and isinstance(node.func, s.Attribute) and node.func.name in _KEEPS:
        node = node.func.value
    return node


def _gives_itself(value: s.Expr | None) -> Iterator[str]:
    """The methods in a row that each give the module itself, behind a call that makes it: `load(name).eval().cuda()`."""
    while isinstance(value, s.Call) and isinstance(value.func, s.Attribute):
        name = value.func.name
        if name not in _KEEPS and (name not in _SWITCHES or value.args):
            return
        yield name
        value = value.func.value


def _conditions(test: s.Expr) -> Iterator[s.Expr]:
    """What a condition is made of: itself, or the parts of `not a`, `a and b`, `a or b`."""
    pending = [test]
    while pending:
        match pending.pop():
            case s.Operation(operator="not" | "and" | "or", operands=operands):
                pending.extend(operands)
            case one:
                yield one
