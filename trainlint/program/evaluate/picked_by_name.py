"""What a program picks by a name that it computes: `getattr(models, args.arch)`, `globals()[name]`, `eval(name)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.values import Constant, Op, Table, Value, Written
from trainlint.program.api import subscripts
from trainlint.program.evaluate import names
from trainlint.program.evaluate.values import Arguments, ClassValue, FileModule, FunctionValue, Library
from trainlint.program.source import syntax as s
from trainlint.program.source.annotations import written_out

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


EVALUATED = "builtins.eval"
"""What a text gives that is not known: `eval(name)`."""


def namespace(ev: Evaluator, path: str) -> Table:
    """The classes of models that a file defines or imports, and the functions that make one, by their names: its
    `__dict__`, as far as a program picks from it by a name."""
    ev.trace.lists.add(path)
    held = {
        name: names.imported(ev, path, name)
        for name in sorted(filter(str.isidentifier, ev.store.owned(ev.module(path).uid)))
    }
    models = {one.code.name for one in held.values() if isinstance(one, ClassValue) and _is_model(one)}
    found = {name: one for name, one in held.items() if _is_model(one) or _makes(one, models)}
    return Table(entries=found, loops=ev.loops)


def _is_model(value: Value) -> bool:
    return isinstance(value, ClassValue) and MODULE in value.library_bases


def _makes(value: Value, models: set[str]) -> bool:
    return isinstance(value, FunctionValue) and not models.isdisjoint(value.origin.code.names)


def of_text(ev: Evaluator, text: Value, at: s.Span) -> Value | None:
    """`eval(text)`: what a text spells, or the call of that. Of the arguments of a call, which are text, nothing is known."""
    head, key, tail = _sole_part(text)
    if tail not in ("", "()") or (head and not head.endswith(".")) or _is_put_together(key):
        return None
    found = _named(ev, head[:-1], key, at)
    return ev.call(found, Arguments(), at, "eval(…)") if found is not None and tail else found


def _sole_part(text: Value) -> tuple[str, Value, str]:
    """The only part of a text that is no constant, and what stands before and behind it: `"models." + name`,
    `f"models.{name}()"`, `"models.%s" % name`."""
    head = tail = ""
    while True:
        match text:
            case Op(name="+", inputs=(Constant(value=str(before), is_default=False), rest)):
                head, text = head + before, rest
            case Op(name="+", inputs=(rest, Constant(value=str(behind), is_default=False))):
                tail, text = behind + tail, rest
            case Op(name="%", inputs=(Constant(value=str(form)), rest)) if (
                form.count("%") == 1 and "%s" in form
            ):
                before, _, behind = form.partition("%s")
                head, text, tail = head + before, rest, behind + tail
            case Op(name="call", inputs=(Constant(value=str(form)), rest)) if form.count("{}") == 1:
                before, _, behind = form.partition("{}")
                head, text, tail = head + before, rest, behind + tail
            case Written(fields=(rest,), head=before, tail=behind) if not isinstance(rest, Written):
                head, text, tail = head + before, rest, behind + tail
            case _:
                return head, text, tail


def _is_put_together(text: Value) -> bool:
    """Whether a text is more than one name: `f"self.layer{number}.{part}"`, `name + "(" + options + ")"`."""
    match text:
        case Written() | Op(name="+" | "%"):
            return True
        case Op(name="call", inputs=(Constant(value=str()), *_)):
            return True
    return False


def _named(ev: Evaluator, holder: str, key: Value, at: s.Span) -> Value | None:
    """What a constant spells, something in a module that one spells, or what its use will say."""
    module = _spelt(ev, holder, at) if holder else None
    match key, module:
        case Constant(value=str(spelt)), _:
            return _spelt(ev, f"{holder}.{spelt}" if holder else spelt, at)
        case (Constant(), _):
            return None
        case _, FileModule():
            return picked(ev, module, key, at)
        case _, Library():
            return Library(name=f"{module.name}.?")
    return None if holder else ev.op(EVALUATED, (key,), at)


def evaluated(ev: Evaluator, text: Op, given: Arguments, at: s.Span) -> Value | None:
    """What `eval(name)` gives that is called: one of the models that stand in the file. What is called with a tensor is none
    of these, but a layer or a function that an expression makes, and `f"self.layer{i}"` is what an object holds: then None.
    """
    if text.at is None or any(map(is_tensor, given.args[:1])) or _is_of_an_object(text.inputs[0]):
        return None
    return subscripts.item(ev, namespace(ev, text.at[0]), text.inputs[0], at)


def _is_of_an_object(text: Value) -> bool:
    """Whether a text begins as one that asks something that has a name for its attribute."""
    head, rest, _ = _sole_part(text)
    return "." in (rest.head if isinstance(rest, Written) else head)


def _spelt(ev: Evaluator, text: str, at: s.Span) -> Value | None:
    expression = written_out(text, at)
    return ev.expr(expression) if expression is not None else None


def picked(ev: Evaluator, module: FileModule, key: Value, at: s.Span) -> Value:
    """`getattr(module, key)` and `module.__dict__[key]`."""
    match key:
        case Constant(value=str(name)):
            return ev.attribute(module, name, at)
    return subscripts.item(ev, namespace(ev, module.path), key, at)
