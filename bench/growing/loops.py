"""Loops: inside each other, after each other, left early."""

from __future__ import annotations

from .program import Program, chained, nested, pattern, repeated, script

_STEP = "optimizer.zero_grad()\ncriterion(model(x), y).backward()\noptimizer.step()"


@pattern
def nested_loops(n: int) -> Program:
    """Loops inside each other, as deep as Python lets them be, with a step in the innermost."""
    return script(after=nested(min(n, 18), "for i{i} in range(3):", _STEP))


@pattern
def nested_loops_with_events(n: int) -> Program:
    """The same, with something that happens on every level."""
    return script(after=nested(min(n, 18), "for i{i} in range(3):\n    optimizer.zero_grad()", _STEP))


@pattern
def nested_loops_with_exits(n: int) -> Program:
    """The same, each loop left for a reason of its own."""
    return script(
        after=nested(
            min(n, 17),
            "for i{i} in range(3):\n    if total > {i}:\n        optimizer.zero_grad()\n        break",
            _STEP,
        )
    )


@pattern
def loops_through_calls(n: int) -> Program:
    """Loops inside each other, each in a function."""
    return script(
        before=chained(
            min(n, 38),
            "def part{i}(x):\n    for _ in range(3):\n        optimizer.zero_grad()\n        part{next}(x)",
            "optimizer.zero_grad()\nmodel(x).mean().backward()\noptimizer.step()",
        ),
        after="part0(x)",
    )


@pattern
def short_loops_through_calls(n: int) -> Program:
    """Loops over what is written out, each in a function that is called in the next."""
    return script(
        before=chained(
            min(n, 38),
            "def part{i}(x):\n    for weight in (0.1, 0.2, 0.3):\n        x = part{next}(x * weight)\n    return x",
            "return torch.relu(x)",
        ),
        step="x = part0(x)",
    )


@pattern
def short_loops_nested(n: int) -> Program:
    """Loops over what is written out, inside each other."""
    return script(step=nested(min(n, 17), "for i{i} in (1, 2, 3):", "x = torch.relu(x)"))


@pattern
def loops_in_row(n: int) -> Program:
    """One loop of training after the other."""
    return script(
        end=repeated(
            n,
            "for x, y in loader:",
            "    optimizer.zero_grad()",
            "    loss = criterion(model(x.to(device)), y.to(device))",
            "    loss.backward()",
            "    optimizer.step()",
        )
    )


@pattern
def loops_in_row_in_loop(n: int) -> Program:
    """Several of them in every epoch, each left early."""
    return script(
        epoch=repeated(
            n,
            "for x, y in loader:",
            "    if x.size(0) < {i}:",
            "        continue",
            "    optimizer.zero_grad()",
            "    criterion(model(x), y).backward()",
            "    if total > {i}:",
            "        break",
            "    optimizer.step()",
        )
    )


@pattern
def pairs_of_loops(n: int) -> Program:
    """Loops in loops, in a row: a step for every group of every batch."""
    return script(
        after=repeated(
            n,
            "for group in optimizer.param_groups:",
            "    for p in group['params']:",
            "        p.grad.mul_(0.{next})",
            "        optimizer.step()",
        )
    )


@pattern
def breaks_and_continues(n: int) -> Program:
    """A loop full of both."""
    return script(
        after="while True:\n"
        + repeated(
            n,
            "    if total > {i}:",
            "        total = total - 1",
            "        continue",
            "    optimizer.step()",
            "    if total < -{i}:",
            "        break",
        )
        + "\n    break"
    )


@pattern
def carried_variables(n: int) -> Program:
    """Many names that each go from one iteration to the next."""
    return script(
        before=repeated(n, "mean{i} = 0.0"),
        after=repeated(n, "mean{i} = 0.9 * mean{i} + 0.1 * loss"),
    )


@pattern
def carried_in_turn(n: int) -> Program:
    """Names that are handed on in a ring, from one iteration to the next."""
    return script(
        before=repeated(n + 1, "state{i} = torch.zeros(8, 32)"),
        step=repeated(n, "state{i} = state{next} + x"),
        after=f"state{n} = state0 + model(x)",
        loss="loss = loss + state0.mean()",
    )


@pattern
def carried_through_nests(n: int) -> Program:
    """A state that every loop of a nest carries, and changes."""
    return script(
        before="state = torch.zeros(8, 32)",
        after=nested(
            min(n, 18),
            "for i{i} in range(3):\n    state = state + model(state)",
            "state = torch.relu(state) + state",
        )
        + "\nstate.mean().backward()",
    )


@pattern
def while_chain(n: int) -> Program:
    """One while after the other, each with an else."""
    return script(
        after=repeated(
            n,
            "while total > {i}:",
            "    total = total / 2",
            "    if total < 1:",
            "        break",
            "else:",
            "    optimizer.zero_grad()",
        )
    )


@pattern
def sums_over_loops(n: int) -> Program:
    """A loss that is added to in a loop, over and over."""
    return script(
        loss=repeated(n, "for p in model.parameters():", "    loss = loss + 1e-{next} * p.pow(2).sum()")
    )


@pattern
def best_copies(n: int) -> Program:
    """`best = copy.copy(best)` in a loop."""
    return script(
        before="best = model.state_dict()",
        epoch=repeated(n, "if total < {i}:", "    best = copy.copy(best)", "best = dict(best)"),
        end="model.load_state_dict(best)",
    )


@pattern
def deep_copies(n: int) -> Program:
    """A model that is copied from the copy before."""
    return script(
        before="kept = model\n" + repeated(n, "kept = copy.deepcopy(kept)"),
        after="with torch.no_grad():\n    kept(x)",
        end="model.load_state_dict(kept.state_dict())",
    )


@pattern
def averages_of_weights(n: int) -> Program:
    """Moving averages of moving averages."""
    return script(
        before="average0 = copy.deepcopy(model)\n" + repeated(n, "average{next} = copy.deepcopy(model)"),
        after=repeated(
            n,
            "for old, new in zip(average{next}.parameters(), average{i}.parameters()):",
            "    old.data.mul_(0.9).add_(new.data, alpha=0.1)",
        ),
    )


@pattern
def generators(n: int) -> Program:
    """Generators, each of which goes through the one before."""
    return script(
        top="def stage0(rows):\n    yield from rows\n\n\n"
        + repeated(n, "def stage{next}(rows):", "    for row in stage{i}(rows):", "        yield row", ""),
        epoch=f"for x, y in stage{min(n, 36)}(loader):\n    optimizer.zero_grad()\n    criterion(model(x), y).backward()\n    optimizer.step()",
    )


@pattern
def generators_twice(n: int) -> Program:
    """Generators, each of which goes through the one before twice."""
    return script(
        top="def stage0(rows):\n    yield from rows\n\n\n"
        + repeated(
            n, "def stage{next}(rows):", "    yield from stage{i}(rows)", "    yield from stage{i}(rows)", ""
        ),
        epoch=f"for x, y in stage{min(n, 36)}(loader):\n    optimizer.zero_grad()\n    criterion(model(x), y).backward()\n    optimizer.step()",
    )


@pattern
def generator_expressions(n: int) -> Program:
    """`rows = (row for row in rows)`, over and over."""
    return script(
        before="rows = loader\n" + repeated(n, "rows = ((a, b) for a, b in rows)"),
        epoch="for x, y in rows:\n    criterion(model(x), y).backward()",
    )
