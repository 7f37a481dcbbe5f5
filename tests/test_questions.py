"""What is asked of values: the answers at joins, in loops and of deep values, and how many steps they take."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainlint import limits
from trainlint.facts.api.classes import AUTOCAST, MODULE, OPTIMIZER, PARAMETER
from trainlint.facts.api.meanings import Meaning
from trainlint.facts.api.precision import CAST_TO
from trainlint.facts.ask.asking import Answers, answered_by
from trainlint.facts.ask.attachment import attachment, terms
from trainlint.facts.ask.clues import has_no_graph
from trainlint.facts.ask.contents import contents, handed_over, leaves
from trainlint.facts.ask.devices import device_types, ways_to_be_on
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import contained, has_parameters, is_part_of
from trainlint.facts.ask.host import is_born_on_host, is_on_host
from trainlint.facts.ask.meaning import makers, origins
from trainlint.facts.ask.modes import may_depend_on_mode
from trainlint.facts.ask.placement import device_of
from trainlint.facts.ask.precision import castings, is_half, number
from trainlint.facts.ask.starving import starving
from trainlint.facts.ask.stepped import certainly_clears, modules_held, same_parameters
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.values import Carried, Choice, Constant, Items, Object, Op, Unknown, Value

LENGTH = 60


def op(name: str, *inputs: Value, **options: Value) -> Op:
    return Op(name=name, inputs=inputs, options=options)


def parameter() -> Op:
    return op(PARAMETER)


def layer(name: str) -> Object:
    return Object(type=f"torch.nn.{name}", bases=frozenset((f"torch.nn.{name}", MODULE)))


def module(name: str = "Net", **attributes: Value) -> Object:
    """A module of the program's own."""
    return Object(type=name, bases=frozenset((MODULE,)), definition=name, attributes=attributes)


def optimizer(*given: Value) -> Object:
    return Object(type="torch.optim.SGD", bases=frozenset((OPTIMIZER,)), args=given)


def diamonds(name: str, end: Value) -> Value:
    for _ in range(LENGTH):
        end = op(name, end, end)
    return end


def chain(name: str, end: Value, length: int = LENGTH) -> Value:
    for _ in range(length):
        end = op(name, end)
    return end


def carried(start: Value, change: Callable[[Value], Value]) -> Carried:
    """A variable that a loop changes."""
    variable = Carried(start=start, loop=1)
    variable.back = change(variable)
    return variable


def either(*options: Value) -> Choice:
    """One of several values, each under a condition of its own."""
    number = len(either_made)
    either_made.append(number)
    return Choice(tuple((((("asked", number, place), True),), one) for place, one in enumerate(options)))


either_made: list[int] = []


@pytest.mark.parametrize(
    ("ask", "value", "answer"),
    [
        (lambda value: attachment(value).attached, diamonds("*", parameter()), True),
        (is_tensor, diamonds("+", op("rand")), True),
        (is_tensor, diamonds("+", Unknown()), False),
        (is_born_on_host, diamonds("+", op("zeros")), True),
        (is_born_on_host, diamonds("+", op("to", op("zeros"))), False),
        (is_on_host, chain("view", op("cpu")), True),
        (lambda value: is_half(value, frozenset()) is not None, diamonds("matmul", op("half")), True),
        (lambda value: is_half(value, frozenset()), diamonds("matmul", op("rand")), None),
        (number, diamonds("**", Constant(value=1)), 1.0),
        (lambda value: len(makers(value) or ()), chain("clamp", op("softmax")), 1),
        (has_no_graph, op("type", diamonds("call", Unknown())), False),
        (lambda value: len(terms(value)), diamonds("+", op("mse_loss")), 1),
        (lambda value: is_made_of(value, Unknown()), diamonds("+", op("rand")), False),
    ],
)
def test_joins_take_as_many_steps_as_there_are_values(
    ask: Callable[[Value], object], value: Value, answer: object
) -> None:
    with answered_by(Answers()) as answers:
        assert ask(value) == answer
    assert answers.steps <= 3 * LENGTH


@pytest.mark.parametrize(
    ("last", "parameters", "mode"),
    [("Linear", True, False), ("ReLU", False, False), ("Dropout", False, True), ("Module", None, False)],
)
def test_modules_that_all_know_each_other(last: str, parameters: bool | None, mode: bool) -> None:
    known = [module() for _ in range(LENGTH)]
    for one in known:
        one.attributes = {f"friend{place}": other for place, other in enumerate(known)}
    known[-1].attributes["layer"] = layer(last)
    for asked in (known[0], known[-1]):
        with answered_by(Answers()) as answers:
            assert has_parameters(asked) is parameters
            assert may_depend_on_mode(asked) is mode
            assert is_part_of(known[-1], asked)
            assert not is_part_of(layer(last), asked)
        assert answers.steps <= 10 * LENGTH**2


def test_lists_of_lists() -> None:
    values: Value = (first := Items(items=[op("rand"), op("ones")]))
    for _ in range(LENGTH):
        values = Items(items=[values] * 10)
    with answered_by(Answers()) as answers:
        assert list(contents(values)) == list(leaves(values)) == first.items
        assert len(list(handed_over(values))) == LENGTH + 3
        assert len(list(contained(module(layers=values)))) == LENGTH + 4
    assert answers.steps < 5 * LENGTH


def test_a_sum_has_all_its_terms_in_order() -> None:
    summands = [op("mse_loss", Constant(value=one)) for one in range(LENGTH)]
    loss: Value = summands[0]
    for one in summands[1:]:
        loss = op("+", loss, op("*", Constant(value=0.5), one))
    assert list(terms(loss)) == summands


# Attachment


def test_a_long_way_to_parameters_is_a_certain_way() -> None:
    loss = chain("relu", op("matmul", parameter(), op("iterate", Unknown())), 3 * limits.QUESTION_DEPTH)
    found = attachment(loss)
    assert found.attached


def test_what_a_loop_detaches() -> None:
    hidden = carried(parameter(), lambda before: op("relu", op("detach", before)))
    assert hidden.back is not None
    for first in (hidden, hidden.back):
        with answered_by(Answers()):
            attachment(first)
            assert attachment(hidden).attached
            assert attachment(hidden.back).is_starved
            assert [one.name for one in attachment(hidden.back).cuts] == ["detach"]


@pytest.mark.parametrize(
    ("start", "is_fresh"), [(op("zeros"), True), (op("relu", parameter()), False)], ids=["data", "output"]
)
def test_a_leaf_that_a_loop_makes_of_the_one_before(start: Value, is_fresh: bool) -> None:
    """An image that is optimized is no loss of the graph; the output of a model is."""
    image = carried(
        start, lambda before: op("tensor", op("detach", before), requires_grad=Constant(value=True))
    )
    assert image.back is not None
    assert attachment(image.back).attached is is_fresh
    assert attachment(image.back).is_starved is not is_fresh


def test_a_tensor_whose_gradient_is_asked_for_is_attached_for_others_alone() -> None:
    rebuilt = op("detach", op("relu", parameter()))
    rebuilt.is_leaf = True
    assert attachment(rebuilt).is_starved
    assert attachment(op("relu", rebuilt)).attached
    assert starving(rebuilt) == [rebuilt]


def test_only_a_module_has_an_output() -> None:
    found = attachment(op("output", Unknown(), Unknown()))
    assert found.uncertain and not found.attached
    assert terms(by_method := op("output", Unknown())) == (by_method,)
    given = op("output", inner := op("mse_loss"))
    given.owner = module()
    assert terms(given) == (inner,)
    assert not is_tensor(op("alias"))


@pytest.mark.parametrize(("through", "is_cut"), [("call", False), ("math.exp", True)])
def test_numbers_of_a_model_that_come_back_from_an_environment(through: str, is_cut: bool) -> None:
    action = op("item", op("relu", parameter()))
    reward = op("tensor", Items(items=[op(through, action)]))
    assert not attachment(reward).uncertain
    assert attachment(reward).is_starved is is_cut


# Meaning


def test_probabilities_that_a_loop_clamps() -> None:
    clamped = carried(soft := op("softmax", Unknown()), lambda before: op("clamp", before))
    assert makers(clamped) == (soft,)
    assert list(origins(op("clamp", clamped))) == [(Meaning.PROBABILITIES, soft)]


def test_logits_that_a_loop_clamps() -> None:
    assert makers(carried(op("linear", Unknown()), lambda before: op("clamp", before))) is None
    assert makers(either(op("softmax", Unknown()), op("rand"))) is None
    assert makers(carried(Constant(value=0), lambda before: before)) is None


# Devices and precision


@pytest.mark.parametrize(("moved", "is_born"), [("abs", True), ("to", False)])
def test_a_count_that_stays_on_the_host(moved: str, is_born: bool) -> None:
    count = carried(
        op("zeros"), lambda before: op(moved, op("+", before, Constant(value=1)), Constant(value=1))
    )
    assert is_born_on_host(count) is is_born


@pytest.mark.parametrize(("change", "device"), [("view", "cpu"), ("cuda", ""), ("relu", "")])
def test_the_device_of_a_variable_that_a_loop_changes(change: str, device: str) -> None:
    assert device_of(carried(op("zeros"), lambda before: op(change, before))) == device


def test_devices_that_are_chosen_again_and_again() -> None:
    device: Value = Constant(value="cuda")
    for _ in range(3):
        device = op("device", either(device, Constant(value="cpu")))
    assert {kind for _, kind in device_types(device)} == {"cuda", "cpu"}
    assert len(ways_to_be_on(device, "cpu")) == 3
    for _ in range(LENGTH):
        device = op("or", either(device, device), op("device", either(device, Unknown())))
    assert device_types(op("device", device)) == (((), ""),)
    assert ways_to_be_on(device, "cpu") == ()


def test_autocast_under_many_contexts() -> None:
    region = Object(
        type=AUTOCAST, bases=frozenset((AUTOCAST,)), options={"device_type": Constant(value="cuda")}
    )
    inner = tuple(either(Unknown(), Unknown()) for _ in range(LENGTH))
    assert [one.dtype for one in castings((region, *inner[:2]))] == [CAST_TO["cuda"]] * 4
    with answered_by(Answers()) as answers:
        found = castings((region, *inner))
    assert len(found) <= limits.WAYS
    assert {(one.region, one.dtype) for one in found} == {(region, "")}
    assert answers.steps < 3 * LENGTH


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (op("-", Constant(value="1e9")), -1e9),
        (op("**", Constant(value=10), Constant(value=5)), 1e5),
        (op("**", Constant(value=10.0**300), Constant(value=5)), None),
        (op("**", op("-", Constant(value=8)), Constant(value=0.5)), None),
        (op("**", Constant(value=0), op("-", Constant(value=1))), None),
        (Constant(value=10**400), None),
        (op("-", Unknown()), None),
    ],
)
def test_numbers(value: Value, found: float | None) -> None:
    assert number(value) == found


# Optimizers


def test_optimizers_that_wrap_each_other() -> None:
    first, second = layer("Linear"), layer("Linear")
    inner = optimizer(op("parameters", first))
    outer = optimizer(inner, Unknown())
    outer.options = {"params": Items(items=[op("parameters", second), outer])}
    assert modules_held(inner) == ((first,), True)
    assert set(modules_held(outer).modules) == {first, second}
    assert modules_held(outer).complete
    assert not modules_held(either(inner, Unknown())).complete
    assert same_parameters(inner, outer) and same_parameters(first, inner)
    assert certainly_clears(first, inner) and not certainly_clears(first, outer)
    assert not same_parameters(second, inner)
