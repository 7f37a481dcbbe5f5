"""Objects that are called: modules, whose forward is followed, containers, losses, and instances with `__call__`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainlint import limits
from trainlint.facts.api.attention import ATTENTION_MASKS
from trainlint.facts.api.classes import HEADS, LAST_OF_HEADS, MODULE, SOME_LOSS
from trainlint.facts.api.frameworks import ENGINE
from trainlint.facts.api.layers import BATCH_NORMS, LAYERS
from trainlint.facts.api.losses import LOSSES, MOST_INPUTS
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.forwards import Forward, Normalised
from trainlint.facts.model.events.operations import AttentionCall, Operation
from trainlint.facts.model.nodes import Branch, Node
from trainlint.facts.model.values import (
    Choice,
    Constant,
    Guards,
    Items,
    Missing,
    Object,
    Op,
    Table,
    Value,
    one_of,
)
from trainlint.program.api import elements, hooks, noting
from trainlint.program.evaluate import classes, decorating, menus, names
from trainlint.program.evaluate.signatures import lacks_arguments, raises_at_once
from trainlint.program.evaluate.values import Arguments, Bound, ClassValue, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


Options = tuple[tuple[Guards, Value], ...]


def call_object(ev: Evaluator, value: Object, given: Arguments, at: s.Span, text: str) -> Value:
    """`model(x)`, `criterion(y, t)`, and any other object that is called."""
    if isinstance(value.definition, ClassValue):
        return _call_own(ev, value, value.definition, given, at, text)
    if "torch.nn.Sequential" in value.bases:
        return _through(ev, value, lambda: sequential(ev, value, given, at, text), given, at, text)
    if value.type in LOSSES:
        if len(given.args) > MOST_INPUTS.get(LOSSES[value.type], 2):
            return ev.op("call", given.args, at, text, given.options, owner=value)  # it is another one
        return noting.loss_of(ev, LOSSES[value.type], given, at, text, value)
    if value.type == SOME_LOSS:
        loss = ev.op(value.type, given.args, at, text, given.options, owner=value)
        ev.emit(Operation, at, output=loss)
        return loss
    if value.is_a(ENGINE) and isinstance(inner := value.argument(0, "model"), Object):
        return _through(ev, value, lambda: ev.call(inner, given, at, text), given, at, text)
    if value.is_a(MODULE):
        name = value.type.removeprefix("torch.nn.")
        operation = LAYERS.get(name, value.type)

        def applied() -> Value:
            named = given.named() if given.mappings else given.options
            made = ev.op(operation, given.args, at, text, named, owner=value)
            made.is_open = given.open
            noting.noted(ev, made, at, value.type)
            if value.type in ATTENTION_MASKS:
                ev.emit(AttentionCall, at, name=value.type, output=made, is_open=given.open)
            if value.type in BATCH_NORMS:
                ev.emit(Normalised, at, output=made)
            head = _head_of(ev, value)
            return made if head is None else _layer(ev, head, made, at, text)

        return _through(ev, value, applied, given, at, text)
    match given.args:
        case (FunctionValue() as function,) if (found := decorating.under(value, function)) is not function:
            return found
    return ev.op("call", given.args, at, text, given.named(), owner=value)


def _head_of(ev: Evaluator, model: Object) -> Object | None:
    """What a program has put in place of the last part of one of torchvision's classifiers, or of the last layer in it:
    `model.fc = nn.Linear(512, 10)`, `model.classifier[6] = nn.Linear(4096, 10)`."""
    module, _, kind = model.type.rpartition(".")
    names = {
        name for begin, name in HEADS.items() if module == "torchvision.models" and kind.startswith(begin)
    }
    head = ev.store.get((model.uid, names.pop())) if names else None
    if isinstance(head, Op) and head.written:
        last = {index for begin, index in LAST_OF_HEADS.items() if kind.startswith(begin)} | {-1}
        write = head.written[-1]
        is_last = write.name == "setitem" and len(write.inputs) == 3 and number_of(write.inputs[1]) in last
        head = write.inputs[2] if is_last else None
    return head if isinstance(head, Object) and head.is_a(MODULE) else None


def _call_own(
    ev: Evaluator, value: Object, cls: ClassValue, given: Arguments, at: s.Span, text: str
) -> Value:
    """An object of a class of the program's own is called."""
    method = classes.class_attribute(ev, cls, "__call__")
    own = ev.store.get((value.uid, "forward"))
    if not isinstance(method, FunctionValue) and isinstance(own, (FunctionValue, Bound)):
        return _through(ev, value, lambda: ev.call(own, given, at, text), given, at, text)
    if not isinstance(method, FunctionValue):
        method = classes.class_attribute(ev, cls, "forward")
    if isinstance(method, FunctionValue):
        found = method
        with_self = given.after(value)
        return _through(ev, value, lambda: ev.call_function(found, with_self, at, value), given, at, text)
    if "torch.nn.Sequential" in value.bases:
        return _through(ev, value, lambda: sequential(ev, value, given, at, text), given, at, text)
    ev.emit(Escape, at, values=given.all())
    return ev.op("call", given.args, at, text, given.named(), owner=value)


def call_choice(ev: Evaluator, func: Choice, given: Arguments, at: s.Span, text: str) -> Value:
    results, ways, left = [], [], ev.nodes
    every = _callable(ev, func, given)
    options = _rest_last(every[: limits.MAX_OPTIONS_CALLED])
    are_all = 1 < len(options) == len(every)
    for number, (guards, one) in enumerate(options, 1):
        is_last = number == len(options) and (are_all or not guards)
        nodes, left = _way(ev, guards, left, is_last)
        known = {**ev.known, **dict(guards)}
        with ev.inside(nodes=nodes, guards=(*ev.guards, *guards), known=known):
            results.append((guards, ev.call(one, _settled(ev, given), at, text)))
        for node in nodes:
            if isinstance(node, Called):
                node.is_chosen = True
        ways.append((guards, nodes))
    menus.note(ways)
    return results[0][1] if len(results) == 1 else one_of(tuple(results))


def _rest_last(options: Options) -> Options:
    """The options with those last that stand under no condition: what is left where those of all others fail."""
    return tuple(sorted(options, key=lambda option: not option[0]))


def _way(ev: Evaluator, guards: Guards, left: list[Node], is_last: bool) -> tuple[list[Node], list[Node]]:
    """Where the events of one option go, and those of the next: beside a condition that leads to this one. The last one is
    what is left where those of all others fail, whatever leads to it: a value is one of its options."""
    if is_last:
        return left, left
    condition, outcome = guards[-1] if guards else (None, True)
    branch = Branch(condition, tuple(sorted(ev.varying.get(condition, ()))))
    left.append(branch)
    return (branch.then, branch.otherwise) if outcome else (branch.otherwise, branch.then)


def _callable(ev: Evaluator, func: Choice, given: Arguments) -> Options:
    """The options of a choice that Python does not refuse to call with these arguments: with another one, the program
    ends here."""
    left = tuple((guards, one) for guards, one in func.options if not _refuses(ev, one, given))
    return left or func.options


def _refuses(ev: Evaluator, value: Value, given: Arguments) -> bool:
    match value:
        case FunctionValue():
            return lacks_arguments(value, given) or raises_at_once(value, given)
        case ClassValue():
            init = classes.class_attribute(ev, value, "__init__")
            made = given.after(value)
            return isinstance(init, FunctionValue) and (
                lacks_arguments(init, made) or raises_at_once(init, made)
            )
        case Op(
            name="getattr", inputs=(Constant(value=None | bool() | int() | float(), is_default=False), *_)
        ):
            return True  # `None` has no method that anyone calls
    return False


def _settled(ev: Evaluator, given: Arguments) -> Arguments:
    """The same arguments with what is now known of conditions applied."""
    options = {name: names.settle(ev, one) for name, one in given.options.items()}
    args = tuple(names.settle(ev, one) for one in given.args)
    return Arguments(args, options, given.open, given.mappings)


def call_forward(
    ev: Evaluator, module: Value, forward: FunctionValue, given: Arguments, at: s.Span, text: str
) -> Value:
    """`model.forward(x)`: what a call of the model does, without its hooks. A class that calls the forward of its
    base runs on its own."""
    noting.note_forward(ev, module, given, at)
    with_self = given.after(module)
    if not isinstance(module, Object) or not module.is_a(MODULE):
        return ev.call_function(forward, with_self, at, module)
    if ev.is_method_of(module) and ev.forwarding() is module:
        return ev.call_function(forward, with_self, at, module)
    return _through(ev, module, lambda: ev.call_function(forward, with_self, at, module), given, at, text)


def sequential(ev: Evaluator, value: Object, given: Arguments, at: s.Span, text: str) -> Value:
    contents = elements.held(ev, value)
    if not isinstance(contents, Items) or not given.args:
        return ev.op("call", given.args, at, text, owner=value)
    flow = given.args[0]
    if not contents.exact:
        flow = ev.op("layers", (flow,), at, text, owner=value)
        last = contents.items[-1] if contents.items else None
        if contents.open_end or last is None:
            return flow
        return _layer(ev, last, flow, at, text)
    for layer in contents.items:
        flow = _layer(ev, layer, flow, at, text)
    return flow


def _layer(ev: Evaluator, layer: Value, flow: Value, at: s.Span, text: str) -> Value:
    """One layer of a container; what it does stands where it was built, for the call says nothing of it."""
    ev.spend(limits.CALL_STEPS)
    result = ev.call(layer, Arguments((flow,)), at, text)
    made = result.inputs[0] if isinstance(result, Op) and result.name == "output" else result
    if isinstance(layer, Object) and isinstance(made, Op) and made.owner is layer and layer.at is not None:
        made.at, made.text = layer.at, f"{layer.type.removeprefix('torch.')}(…)"
    return result


def _through(ev: Evaluator, module: Object, work: Any, given: Arguments, at: s.Span, text: str) -> Value:
    """The result of a module's forward, marked as that module's output, and the event of it."""
    ev.spend()
    if ev.here.forwards > limits.MAX_NESTED_MODULES or not ev.follows():
        return ev.op("call", given.args, at, text, given.named(), owner=module)
    if not module.is_a(MODULE):
        return work()  # type: ignore[no-any-return]
    with ev.inside(forwards=ev.here.forwards + 1):
        result = work()
        if ev.has_hooks:
            result = hooks.run(ev, module, given, result, at)
    marked = _Marking(ev, module, at, text).of(result)
    if ev.here.forwards == 0:
        named = tuple(given.named().values()) if given.mappings else tuple(given.options.values())
        ev.emit(
            Forward,
            at,
            module=module,
            inputs=given.args,
            named=named,
            output=marked,
            records=ev.records,
            text=text,
        )
    return marked


class _Marking:
    """Marks the parts of a forward's result as that module's output, each once."""

    def __init__(self, ev: Evaluator, module: Object, at: s.Span, text: str) -> None:
        self._ev, self._module, self._at, self._text = ev, module, at, text
        self._marked: dict[int, Value] = {}

    def of(self, result: Value) -> Value:
        if result.uid not in self._marked:
            self._marked[result.uid] = result  # for a list that holds itself
            self._marked[result.uid] = self._of(result)
        return self._marked[result.uid]

    def _of(self, result: Value) -> Value:
        match result:
            case Items(exact=True) if len(result.items) < 10:
                return Items(kind=result.kind, items=[self.of(one) for one in result.items], at=result.at)
            case Table() if not result.others:
                return Table(entries={key: self.of(one) for key, one in result.entries.items()})
            case Object() | Constant() | Missing():
                return result
            case Choice():
                return one_of(tuple((guards, self.of(one)) for guards, one in result.options))
        return self._ev.op("output", (result,), self._at, self._text, owner=self._module)
