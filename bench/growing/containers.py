"""Lists, tuples and dicts that hold themselves, or double."""

from __future__ import annotations

import textwrap

from .program import Program, pattern, repeated, script

_LAYERS = "layers = [nn.Linear(32, 32), nn.ReLU()]\n"


@pattern
def lists_added(n: int) -> Program:
    """`xs = xs + xs`."""
    return script(
        init=_LAYERS + repeated(n, "layers = layers + layers") + "\nself.body = nn.Sequential(*layers)",
        forward="h = self.body(h)",
    )


@pattern
def lists_extended(n: int) -> Program:
    """`xs.extend(xs)`."""
    return script(
        init=_LAYERS + repeated(n, "layers.extend(layers)") + "\nself.body = nn.Sequential(*layers)",
        forward="h = self.body(h)",
    )


@pattern
def lists_increased(n: int) -> Program:
    """`xs += xs`."""
    return script(
        init=_LAYERS + repeated(n, "layers += layers") + "\nself.body = nn.Sequential(*layers)",
        forward="h = self.body(h)",
    )


@pattern
def lists_unpacked(n: int) -> Program:
    """`xs = [*xs, *xs]`."""
    return script(
        init=_LAYERS + repeated(n, "layers = [*layers, *layers]") + "\nself.body = nn.Sequential(*layers)",
        forward="h = self.body(h)",
    )


@pattern
def lists_multiplied(n: int) -> Program:
    """`xs = xs * 2`."""
    return script(
        init=_LAYERS + repeated(n, "layers = layers * 2") + "\nself.body = nn.Sequential(*layers)",
        forward="h = self.body(h)",
    )


@pattern
def lists_comprehended(n: int) -> Program:
    """`xs = [one for x in xs for one in (x, x)]`."""
    return script(
        init=_LAYERS
        + repeated(n, "layers = [one for layer in layers for one in (layer, nn.ReLU())]")
        + "\nself.body = nn.Sequential(*layers)",
        forward="h = self.body(h)",
    )


@pattern
def lists_sliced(n: int) -> Program:
    """`xs = xs[:] + xs[::-1]`."""
    return script(
        init=_LAYERS
        + repeated(n, "layers = layers[:] + layers[::-1]")
        + "\nself.body = nn.ModuleList(layers)",
        forward="for layer in self.body:\n    h = layer(h)",
    )


@pattern
def lists_appended_to_themselves(n: int) -> Program:
    """`xs.append(xs)`, and the optimizer is given it."""
    return script(
        before="held = list(model.parameters())\n"
        + repeated(n, "held.append(held)")
        + "\noptimizer = torch.optim.SGD(held, lr=0.1)"
    )


@pattern
def pairs_of_pairs(n: int) -> Program:
    """`t = [t, t]`, and a tensor is made of it."""
    return script(
        forward="t = [1.0, 2.0]\n"
        + repeated(n, "t = [t, t]")
        + "\nt = torch.tensor(t)\nh = h + t.sum().item()\nh = h * t.tolist()[0]"
    )


@pattern
def pairs_of_parameters(n: int) -> Program:
    """`t = [t, t]` of parameters, for the optimizer."""
    return script(
        before="held = [model.first.weight]\n"
        + repeated(n, "held = [held, held]")
        + "\noptimizer = torch.optim.SGD(held, lr=0.1)"
    )


@pattern
def tuples_of_outputs(n: int) -> Program:
    """`t = (t, t)` of what a model gives, which it returns."""
    return script(
        forward="t = h\n" + repeated(n, "t = (t, t)") + "\nh = h + len(t)\nself.kept = t",
        loss="loss = loss + sum(one.mean() for one in model.kept)",
    )


@pattern
def zips(n: int) -> Program:
    """`z = zip(z, z)`."""
    return script(
        before="pairs = loader\n" + repeated(n, "pairs = zip(pairs, pairs)"),
        epoch="for pair in pairs:\n    print(pair)",
    )


@pattern
def zipped_lists(n: int) -> Program:
    """`z = list(zip(z, z))`."""
    return script(
        before="pairs = [1, 2, 3]\n" + repeated(n, "pairs = list(zip(pairs, pairs))"),
        epoch="for pair in pairs:\n    print(pair)",
    )


@pattern
def enumerations(n: int) -> Program:
    """`z = enumerate(z)`."""
    return script(
        before="rows = loader\n" + repeated(n, "rows = enumerate(rows)"),
        epoch="for row in rows:\n    print(row)",
    )


@pattern
def chains_of_iterators(n: int) -> Program:
    """`z = itertools.chain(z, z)`."""
    return script(
        before="rows = loader\n" + repeated(n, "rows = itertools.chain(rows, map(list, rows))"),
        epoch="for row in rows:\n    print(row)",
    )


@pattern
def dicts_of_dicts(n: int) -> Program:
    """`d = {"a": d, "b": d}`."""
    return script(
        before='state = {"model": model.state_dict()}\n'
        + repeated(n, 'state = {{"new": state, "old": state}}'),
        end='torch.save(state, "all.pt")',
    )


@pattern
def dicts_joined(n: int) -> Program:
    """`d = {**d, "key": d}`."""
    return script(
        top='config = {"width": 32}\n' + repeated(n, 'config = {{**config, "old{i}": config}}'),
        made='model = Net(width=config["width"]).to(device)',
    )


@pattern
def dicts_updated(n: int) -> Program:
    """A configuration that is filled key by key, and read back."""
    return script(
        top="config = {}\n" + repeated(n, 'config["key{i}"] = config.get("key{next}", {i})'),
        step='x = x * config["key0"]',
    )


@pattern
def sums_of_lists(n: int) -> Program:
    """Lists of losses that are summed, each into the next list."""
    return script(
        loss="terms = [loss]\n" + repeated(n, "terms = [sum(terms), *terms]") + "\nloss = sum(terms)"
    )


@pattern
def unpacked_tuples(n: int) -> Program:
    """`a, b = (b, a), (a, b)`."""
    return script(step="a, b = x, y\n" + repeated(n, "a, b = (b, a), (a, b)") + "\nprint(a, b)")


@pattern
def nested_comprehensions(n: int) -> Program:
    """Comprehensions inside each other."""
    text = "one"
    for _ in range(min(n, 60)):
        text = f"[{text} for one in range(2)]"
    return script(before=f"one = 1\nshape = {text}", step="print(shape)")


@pattern
def nested_literals(n: int) -> Program:
    """Lists inside each other."""
    depth = min(n, 60)
    return script(before=f"shape = {'[' * depth}1{']' * depth}", step="x = x + torch.tensor(shape).sum()")


@pattern
def groups_of_parameters(n: int) -> Program:
    """An optimizer with many groups."""
    return script(
        init=repeated(n, "self.layer{i} = nn.Linear(32, 32)"),
        forward=repeated(n, "h = self.layer{i}(h)"),
        before="groups = []\n"
        + repeated(n, 'groups.append({{"params": model.layer{i}.parameters(), "lr": 1e-{next}}})')
        + "\noptimizer = torch.optim.AdamW(groups)",
    )


@pattern
def appended_layers(n: int) -> Program:
    """A list of layers, filled one by one."""
    return script(
        init="layers = []\n"
        + repeated(n, "layers.append(nn.Linear(32, 32))", "layers.append(nn.ReLU())")
        + "\nself.body = nn.Sequential(*layers)",
        forward="h = self.body(h)",
    )


@pattern
def ten_times_itself(n: int) -> Program:
    """`held = [held, held, ...]`, ten times on each level, for the optimizer."""
    return script(
        before="held = [model.first.weight]\n"
        + repeated(n, f"held = [{', '.join(['held'] * 10)}]")
        + "\noptimizer = torch.optim.SGD(held, lr=0.1)"
    )


@pattern
def appended_to_itself(n: int) -> Program:
    """`held.append(held)`, again and again, for the optimizer."""
    return script(
        before="held = [model.first.weight]\n"
        + repeated(n, "held.append(held)")
        + "\noptimizer = torch.optim.SGD(held, lr=0.1)"
    )


@pattern
def handed_over_ten_times(n: int) -> Program:
    """`held = [held, held, ...]` of the optimizer, handed to a function that nobody sees."""
    return script(
        top="from reports import report",
        before="held = [optimizer, model]\n" + repeated(n, f"held = [{', '.join(['held'] * 10)}]"),
        epoch="report(held)",
    )


@pattern
def wide_lists(n: int) -> Program:
    """Lists of `n` lists of `n` lists, three levels deep, of losses."""
    return script(
        loss=f"rows = [{', '.join(['loss'] * n)}]\nrows = [{', '.join(['rows'] * n)}]\nrows = [{', '.join(['rows'] * n)}]"
        "\nloss = loss + sum(rows[0][0])",
        end="report(rows)",
    )


@pattern
def zips_summed_over(n: int) -> Program:
    """A sum of losses over `z = zip(z, z)`."""
    return script(
        before="pairs = loader\n" + repeated(n, "pairs = zip(pairs, pairs)"),
        epoch="for pair in pairs:\n    total = total + criterion(model(x), y)",
    )


@pattern
def loaders_of_batches(n: int) -> Program:
    """Loaders over what was drawn from the loader before, twice."""
    return script(
        before=repeated(
            n,
            "rows = next(iter(loader))[0]",
            "loader = DataLoader(TensorDataset(rows, rows), batch_size=8)",
            "for rows, again in loader:",
            "    loader = DataLoader(TensorDataset(rows, rows.view(-1, 32)), batch_size=8)",
        ),
    )


@pattern
def joined_on_host(n: int) -> Program:
    """`v = torch.cat([v, v])` of numbers that a forward reads."""
    return script(
        forward="v = torch.zeros(1)\n" + repeated(n, "v = torch.cat([v, v])") + "\nh = h * v.amax().item()",
    )


@pattern
def batches_of_pairs(n: int) -> Program:
    """A data set that gives `x = [x, x]`."""
    return script(
        top="class Rows:\n    def __getitem__(self, i):\n        row = torch.randn(32)\n"
        + textwrap.indent(repeated(n, "row = [row, row]"), "        ")
        + "\n        return row",
        made="rows = DataLoader(Rows(), batch_size=2)",
        step="for row in rows:\n    print(row)",
    )
