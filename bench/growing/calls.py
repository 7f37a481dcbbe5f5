"""Functions that call each other, and what they are given."""

from __future__ import annotations

from .program import Program, chained, pattern, repeated, script


@pattern
def helpers_once(n: int) -> Program:
    """Each helper calls the next."""
    return script(
        top=chained(n, "def part{i}(x):\n    return torch.relu(part{next}(x))", "return x"),
        forward="h = part0(h)",
    )


@pattern
def helpers_twice(n: int) -> Program:
    """Each helper calls the next twice."""
    return script(
        top=chained(n, "def part{i}(x):\n    return part{next}(x) + part{next}(-x)", "return torch.relu(x)"),
        forward="h = part0(h)",
    )


@pattern
def helpers_of_helpers(n: int) -> Program:
    """`part(part(x))`, on every level."""
    return script(
        top=chained(n, "def part{i}(x):\n    return part{next}(part{next}(x))", "return torch.relu(x)"),
        forward="h = part0(h)",
    )


@pattern
def helpers_with_events(n: int) -> Program:
    """Helpers that call the next twice, and the last one trains."""
    return script(
        before=chained(
            n,
            "def part{i}(x):\n    part{next}(x)\n    part{next}(x)",
            "optimizer.zero_grad()\nmodel(x).mean().backward()\noptimizer.step()",
        ),
        after="part0(x)",
    )


@pattern
def helpers_by_option(n: int) -> Program:
    """Each helper calls one of the next two, as an option says."""
    return script(
        top=chained(
            n,
            "def part{i}(x):\n    if len(sys.argv) > {i}:\n        return part{next}(torch.relu(x))\n    return part{next}(torch.tanh(x))",
            "return x",
        ),
        forward="h = part0(h)",
    )


@pattern
def methods_twice(n: int) -> Program:
    """Methods that call the next twice."""
    methods = "\n\n".join(
        f"def part{i}(self, x):\n    return self.part{i + 1}(x) + self.part{i + 1}(-x)" for i in range(n)
    )
    return script(
        fields=f"{methods}\n\ndef part{n}(self, x):\n    return torch.relu(x)\n", forward="h = self.part0(h)"
    )


@pattern
def many_helpers(n: int) -> Program:
    """Helpers that nothing calls, each of which could train a model."""
    return script(
        top=repeated(
            n,
            "def fit{i}(model, loader, optimizer):",
            "    for x, y in loader:",
            "        loss = F.cross_entropy(model(x), y)",
            "        loss.backward()",
            "        optimizer.step()",
            "",
        )
    )


@pattern
def one_helper_often(n: int) -> Program:
    """One helper that is called again and again."""
    return script(
        top="def part(x):\n    y = torch.relu(x)\n    return y + x", forward=repeated(n, "h = part(h)")
    )


@pattern
def recursion(n: int) -> Program:
    """Functions that call themselves twice, and each other."""
    return script(
        top=repeated(
            n,
            "def part{i}(x, depth):",
            "    if depth == 0:",
            "        return torch.relu(x)",
            "    return part{i}(x, depth - 1) + part{i}(-x, depth - 1)",
            "",
        ),
        forward=repeated(n, "h = part{i}(h, {next})"),
    )


@pattern
def mutual_recursion(n: int) -> Program:
    """Functions in a ring, each of which calls the next two."""
    ring = "\n\n".join(
        f"def part{i}(x, depth):\n    return x if depth == 0 else part{(i + 1) % n}(x, depth - 1) + part{(i + 2) % n}(x, depth - 1)"
        for i in range(n)
    )
    return script(top=ring, forward="h = part0(h, 9)")


@pattern
def factories(n: int) -> Program:
    """Functions that return functions that return functions."""
    return script(
        top="def make0(scale):\n    def run(x):\n        return torch.relu(x * scale)\n    return run\n\n"
        + repeated(
            n,
            "def make{next}(scale):",
            "    inner, again = make{i}(scale), make{i}(scale + 1)",
            "    def run(x):",
            "        return inner(x) + again(x)",
            "    return run",
            "",
        ),
        forward=f"h = make{n}(2)(h)",
    )


@pattern
def factories_of_models(n: int) -> Program:
    """Functions that build models of what other functions build."""
    return script(
        top="def build0(width):\n    return nn.Linear(width, width)\n\n"
        + repeated(
            n,
            "def build{next}(width):",
            "    return nn.Sequential(build{i}(width), nn.ReLU(), build{i}(width))",
            "",
        ),
        init=f"self.body = build{n}(width)",
        forward="h = self.body(h)",
    )


@pattern
def closures(n: int) -> Program:
    """`f = lambda x, g=f: g(g(x))`."""
    return script(
        top="def f(x):\n    return torch.relu(x)\n\n" + repeated(n, "f = lambda x, g=f: g(g(x))"),
        forward="h = f(h)",
    )


@pattern
def compositions(n: int) -> Program:
    """`f = compose(f, f)`."""
    return script(
        top="def compose(f, g):\n    def both(x):\n        return f(g(x))\n    return both\n\n\nf = torch.relu\n"
        + repeated(n, "f = compose(f, f)"),
        forward="h = f(h)",
    )


@pattern
def partials(n: int) -> Program:
    """`f = partial(f, ...)`."""
    return script(
        top="def f(x, **options):\n    return torch.relu(x)\n\n"
        + repeated(n, "f = functools.partial(f, option{i}={i})"),
        forward="h = f(h)",
    )


@pattern
def decorators(n: int) -> Program:
    """Decorators stacked on one function."""
    return script(
        top=repeated(
            n,
            "def traced{i}(function):",
            "    @functools.wraps(function)",
            "    def call(*args, **options):",
            "        return function(*args, **options)",
            "    return call",
            "",
        )
        + "\n\n"
        + repeated(n, "@traced{i}")
        + "\ndef part(x):\n    return torch.relu(x)",
        forward="h = part(h)",
    )


@pattern
def star_arguments(n: int) -> Program:
    """`a = f(*a, *a)`."""
    return script(
        top="def gathered(*given):\n    return given",
        step="a = (x, y)\n" + repeated(n, "a = gathered(*a, *a)") + "\nprint(len(a))",
    )


@pattern
def star_arguments_of_library(n: int) -> Program:
    """`a = max(*a, *a)`, of functions that nobody sees."""
    return script(step="a = [x, x]\n" + repeated(n, "a = torch.broadcast_tensors(*a, *a)") + "\nx = a[0]")


@pattern
def keyword_arguments(n: int) -> Program:
    """Options that are handed on from one function to the next, each with one more."""
    return script(
        top=chained(
            n, "def part{i}(x, **options):\n    return part{next}(x, option{i}={i}, **options)", "return x"
        ).replace(f"def part{n}(x)", f"def part{n}(x, **options)"),
        forward="h = part0(h)",
    )


@pattern
def default_arguments(n: int) -> Program:
    """Functions with a default that is the result of the one before."""
    return script(
        top="def part0(x, scale=1):\n    return x * scale\n\n"
        + repeated(
            n, "def part{next}(x, scale=part{i}(2)):", "    return part{i}(x, scale) + part{i}(x)", ""
        ),
        forward=f"h = part{n}(h)",
    )


@pattern
def asynchronous(n: int) -> Program:
    """Coroutines that wait for each other, twice."""
    return script(
        top="import asyncio\n\n\n"
        + chained(
            n,
            "async def part{i}(x):\n    return await part{next}(x) + await part{next}(x)",
            "return torch.relu(x)",
        ).replace(f"def part{n}", f"async def part{n}"),
        step="x = asyncio.run(part0(x))",
    )


@pattern
def asynchronous_loops(n: int) -> Program:
    """`async for` and `async with`, in a row."""
    return script(
        top="import asyncio\n\n\nasync def fit(model, rows, optimizer, lock):\n"
        + repeated(
            n,
            "    async for x, y in rows:",
            "        async with lock:",
            "            F.cross_entropy(model(x), y).backward()",
            "            optimizer.step()",
        ),
        end="asyncio.run(fit(model, loader, optimizer, asyncio.Lock()))",
    )


@pattern
def context_managers(n: int) -> Program:
    """The program's own contexts, each of which opens the one before twice."""
    return script(
        top="@contextlib.contextmanager\ndef mode0(model):\n    model.eval()\n    yield model\n    model.train()\n\n"
        + repeated(
            n,
            "@contextlib.contextmanager",
            "def mode{next}(model):",
            "    with mode{i}(model), mode{i}(model):",
            "        yield model",
            "",
        ),
        after=f"with mode{n}(model), torch.no_grad():\n    model(x)",
    )


@pattern
def hooks(n: int) -> Program:
    """Hooks of hooks."""
    return script(
        before=repeated(
            n,
            "def hook{i}(module, given, output):",
            "    return output + module.first(given[0])",
            "",
            "model.register_forward_hook(hook{i})",
        ),
    )
