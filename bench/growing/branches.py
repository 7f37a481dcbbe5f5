"""Decisions: chains of them, in a row, inside each other."""

from __future__ import annotations

from .program import Program, nested, pattern, repeated, script


@pattern
def independent_ifs(n: int) -> Program:
    """Options, one after the other, none of which says anything of the next."""
    return script(step=repeated(n, "if len(sys.argv) > {i}:", "    x = x + {next}"))


@pattern
def ifs_with_events(n: int) -> Program:
    """Modes and steps, each under an option of its own."""
    return script(
        before=repeated(n, 'option{i} = "--option{i}" in sys.argv'),
        step=repeated(n, "if option{i}:", "    optimizer.step()", "else:", "    optimizer.zero_grad()"),
    )


@pattern
def ifs_with_backward(n: int) -> Program:
    """A loss, a backward and a step under each option."""
    return script(
        before=repeated(n, 'option{i} = "--option{i}" in sys.argv'),
        after=repeated(
            n,
            "if option{i}:",
            "    optimizer.zero_grad()",
            "    criterion(model(x), y).backward()",
            "    optimizer.step()",
        ),
    )


@pattern
def same_if(n: int) -> Program:
    """One option that is asked again and again."""
    return script(step=repeated(n, "if flag:", "    x = torch.relu(x)", "else:", "    x = torch.tanh(x)"))


@pattern
def rebound_under_ifs(n: int) -> Program:
    """`loss = loss + ...` under each option."""
    return script(
        loss=repeated(
            n, 'if "--option{i}" in sys.argv:', "    loss = loss + 0.{next} * scores.pow({i}).mean()"
        )
    )


@pattern
def replaced_under_ifs(n: int) -> Program:
    """The model's output goes through another layer under each option."""
    return script(
        init=repeated(n, "self.layer{i} = nn.Linear(32, 32)"),
        forward=repeated(
            n,
            'if "--option{i}" in sys.argv:',
            "    h = self.layer{i}(h) + h",
            "else:",
            "    h = torch.relu(h)",
        ),
    )


@pattern
def elif_chain(n: int) -> Program:
    """One loss out of many, by name."""
    chain = "\n".join(
        f"{'if' if i == 0 else 'elif'} name == 'loss{i}':\n    criterion = nn.CrossEntropyLoss(label_smoothing=0.0{i})"
        for i in range(n)
    )
    return script(before=f"name = sys.argv[1]\n{chain}\nelse:\n    raise ValueError(name)")


@pattern
def elif_chains_in_row(n: int) -> Program:
    """Optimizer, then scheduler, then loss, each by name."""
    return script(
        before="name = sys.argv[1]\n"
        + repeated(
            n,
            "if name == 'a{i}':",
            "    optimizer = torch.optim.SGD(model.parameters(), lr=0.{next})",
            "elif name == 'b{i}':",
            "    optimizer = torch.optim.Adam(model.parameters(), lr=0.{next})",
        )
    )


@pattern
def conditional_expressions(n: int) -> Program:
    """`h = f(h) if flag else g(h)`."""
    return script(forward=repeated(n, "h = torch.relu(h) if len(sys.argv) > {i} else torch.tanh(h)"))


@pattern
def conditional_expressions_nested(n: int) -> Program:
    """`a if p else b if q else c`, as long as it goes."""
    text = " else ".join(f"torch.relu(h) if len(sys.argv) > {i}" for i in range(n))
    return script(forward=f"h = {text} else h")


@pattern
def nested_ifs(n: int) -> Program:
    """One option inside the other."""
    return script(step=nested(min(n, 60), "if len(sys.argv) > {i}:", "x = x + 1"))


@pattern
def nested_if_else(n: int) -> Program:
    """The other side of each option asks the next."""
    depth = min(n, 60)
    lines = []
    for i in range(depth):
        lines += [
            "    " * i + f"if len(sys.argv) > {i}:",
            "    " * (i + 1) + f"x = x + {i}",
            "    " * i + "else:",
        ]
    return script(step="\n".join([*lines, "    " * depth + "x = torch.relu(x)"]))


@pattern
def early_returns(n: int) -> Program:
    """A loss function with many ways out."""
    return script(
        before="def chosen(scores, y, how):\n"
        + repeated(n, "    if how == {i}:", "        return F.cross_entropy(scores / {next}, y)")
        + "\n    return scores.mean()",
        loss="loss = loss + chosen(scores, y, len(sys.argv))",
    )


@pattern
def early_continues(n: int) -> Program:
    """A loop that goes on to the next batch for many reasons."""
    return script(step=repeated(n, "if x.size(0) == {i}:", "    continue"))


@pattern
def early_breaks(n: int) -> Program:
    """A loop that ends for many reasons, each after a step."""
    return script(after=repeated(n, "if total > {i}:", "    optimizer.step()", "    break"))


@pattern
def tries(n: int) -> Program:
    """Imports and calls that may fail, in a row."""
    return script(
        step=repeated(
            n,
            "try:",
            "    x = torch.relu(x)",
            "except RuntimeError:",
            "    optimizer.zero_grad()",
            "    x = torch.tanh(x)",
        )
    )


@pattern
def tries_with_events(n: int) -> Program:
    """Steps that may fail, each with something that is done in the end."""
    return script(
        after=repeated(
            n,
            "try:",
            "    criterion(model(x), y).backward()",
            "except RuntimeError:",
            "    continue",
            "else:",
            "    optimizer.step()",
            "finally:",
            "    optimizer.zero_grad()",
        )
    )


@pattern
def tries_nested(n: int) -> Program:
    """One thing is tried after the other has failed."""
    depth = min(n, 19)
    lines = []
    for i in range(depth):
        lines += [
            "    " * i + "try:",
            "    " * (i + 1) + f"x = x.view(8, {i})",
            "    " * i + "except RuntimeError:",
        ]
    return script(step="\n".join([*lines, "    " * depth + "x = torch.relu(x)"]))


@pattern
def many_excepts(n: int) -> Program:
    """One try, and a handler for everything."""
    return script(
        step="try:\n    x = torch.relu(x)\n"
        + repeated(n, "except (RuntimeError, ValueError{i}):", "    x = torch.tanh(x)"),
        top=repeated(n, "class ValueError{i}(ValueError):", "    pass", ""),
    )


@pattern
def matches(n: int) -> Program:
    """A match with many cases."""
    return script(
        before="match sys.argv[1:]:\n"
        + repeated(
            n,
            '    case ["loss{i}", weight]:',
            "        criterion = nn.CrossEntropyLoss(label_smoothing=float(weight))",
        )
        + "\n    case _:\n        pass"
    )


@pattern
def matches_of_classes(n: int) -> Program:
    """A match in a forward, over patterns in patterns."""
    return script(
        forward="match h.shape:\n"
        + repeated(
            n, "    case (({i} as k) | ({next} as k), 32) if k > {i}:", "        h = torch.relu(h) * k"
        )
    )


@pattern
def walrus(n: int) -> Program:
    """`if (k := f(k)) > 0`."""
    return script(
        forward="k = h\n" + repeated(n, "if (k := torch.relu(k) + k).sum() > {i}:", "    h = h + k")
    )


@pattern
def asserts(n: int) -> Program:
    """Many assertions about the batch."""
    return script(step=repeated(n, "assert x.dim() == 2 and x.size(0) <= {i} + 8, x.shape"))


@pattern
def with_chain(n: int) -> Program:
    """Contexts in a row."""
    return script(
        step=repeated(n, "with torch.profiler.record_function('part{i}'):", "    x = torch.relu(x)")
    )


@pattern
def with_no_grad_chain(n: int) -> Program:
    """Contexts in a row, some of which switch gradients off."""
    return script(
        forward=repeated(n, "with torch.set_grad_enabled(len(sys.argv) > {i}):", "    h = h + torch.relu(h)")
    )


@pattern
def with_nested(n: int) -> Program:
    """Contexts inside each other."""
    return script(
        step=nested(min(n, 20), "with torch.set_grad_enabled(len(sys.argv) > {i}):", "x = torch.relu(x)")
    )
