"""Layers and models: residual blocks, cells written out, containers in containers."""

from __future__ import annotations

from .program import Program, pattern, repeated, script

_BLOCK = """
class Block(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.narrow = narrow
        self.body = nn.Linear(wide, narrow)
        self.project = nn.Linear(wide, narrow)

    def forward(self, x):
        shortcut = x
        if x.size(-1) != self.narrow:
            shortcut = self.project(x)
        return shortcut + self.body(x)
"""
_PLAIN = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 32), nn.ReLU())

    def forward(self, x):
        return x + self.body(x)
"""


@pattern
def residual_nests(n: int) -> Program:
    """Blocks whose shortcut is replaced under a condition, in a loop over blocks."""
    return script(
        top=_BLOCK,
        init="sizes = (32, " + ", ".join(str(8 * (1 + i % 5)) for i in range(n)) + ", 32)\n"
        "self.blocks = nn.ModuleList(Block(a, b) for a, b in zip(sizes[:-1], sizes[1:]))",
        forward="for block in self.blocks:\n    h = block(h)",
    )


@pattern
def residual_nests_in_row(n: int) -> Program:
    """The same blocks, called one after the other."""
    return script(
        top=_BLOCK,
        init=repeated(n, "self.block{i} = Block(32, 32)"),
        forward=repeated(n, "h = self.block{i}(h)"),
    )


@pattern
def residual_sequential(n: int) -> Program:
    """The same blocks in a Sequential."""
    return script(
        top=_BLOCK,
        init="self.blocks = nn.Sequential(\n" + repeated(n, "    Block(32, 3{i}),") + "\n)",
        forward="h = self.blocks(h)",
    )


@pattern
def residuals_by_flag(n: int) -> Program:
    """A layer that is there or None, asked for in every forward, as `downsample` in a ResNet."""
    return script(
        top=_BLOCK.replace(
            "self.project = nn.Linear(wide, narrow)",
            "self.project = nn.Linear(wide, narrow) if wide != narrow or flag else None",
        ).replace("if x.size(-1) != self.narrow:", "if self.project is not None:"),
        init="self.blocks = nn.Sequential(\n" + repeated(n, "    Block(32, 3{i}),") + "\n)",
        forward="h = self.blocks(h)",
    )


@pattern
def residual_blocks_in_script(n: int) -> Program:
    """Residual blocks made at the top of a script, and called there."""
    return script(
        top=_PLAIN,
        before=repeated(
            n,
            "block{i} = Block().to(device)",
            "optimizer.add_param_group({{'params': block{i}.parameters()}})",
        ),
        step=repeated(n, "x = block{i}(x)"),
    )


@pattern
def residual_lines(n: int) -> Program:
    """`h = h + self.layer(h)`."""
    return script(
        init=repeated(n, "self.layer{i} = nn.Linear(32, 32)"),
        forward=repeated(n, "h = h + torch.relu(self.layer{i}(h))"),
    )


@pattern
def layered_diamonds(n: int) -> Program:
    """`h = self.a(h) + self.b(h)`."""
    return script(
        init=repeated(n, "self.a{i}, self.b{i} = nn.Linear(32, 32), nn.Linear(32, 32)"),
        forward=repeated(n, "h = self.a{i}(h) + self.b{i}(h)"),
    )


@pattern
def dense_connections(n: int) -> Program:
    """Each layer is given what all before it gave."""
    return script(
        init=repeated(n, "self.layer{i} = nn.LazyLinear(32)"),
        forward="found = [h]\n"
        + repeated(n, "found.append(self.layer{i}(torch.cat(found, dim=-1)))")
        + "\nh = found[-1]",
    )


@pattern
def lstm_written_out(n: int) -> Program:
    """An LSTM cell, written out step by step."""
    return script(
        init="self.gates = nn.Linear(64, 128)",
        forward="c = torch.zeros_like(h)\ns = torch.zeros_like(h)\n"
        + repeated(
            n,
            "i, f, g, o = self.gates(torch.cat((h, s), -1)).chunk(4, dim=-1)",
            "c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)",
            "s = torch.sigmoid(o) * torch.tanh(c)",
        )
        + "\nh = s",
    )


@pattern
def lstm_cells(n: int) -> Program:
    """`nn.LSTMCell`, step by step."""
    return script(
        init="self.cell = nn.LSTMCell(32, 32)",
        forward="s, c = torch.zeros_like(h), torch.zeros_like(h)\n"
        + repeated(n, "s, c = self.cell(h, (s, c))")
        + "\nh = s + c",
    )


@pattern
def gru_written_out(n: int) -> Program:
    """A GRU cell, written out step by step."""
    return script(
        init="self.reset, self.update, self.new = nn.Linear(64, 32), nn.Linear(64, 32), nn.Linear(64, 32)",
        forward="s = torch.zeros_like(h)\n"
        + repeated(
            n,
            "r = torch.sigmoid(self.reset(torch.cat((h, s), -1)))",
            "z = torch.sigmoid(self.update(torch.cat((h, s), -1)))",
            "s = (1 - z) * s + z * torch.tanh(self.new(torch.cat((h, r * s), -1)))",
        )
        + "\nh = s",
    )


@pattern
def u_net(n: int) -> Program:
    """What is seen on the way down is joined on the way up."""
    return script(
        init=repeated(n, "self.down{i}, self.up{i} = nn.Linear(32, 32), nn.Linear(64, 32)"),
        forward=repeated(n, "s{i} = h = torch.relu(self.down{i}(h))")
        + "\n"
        + "\n".join(f"h = self.up{i}(torch.cat((h, s{i}), -1))" for i in reversed(range(n))),
    )


@pattern
def sequentials_nested(n: int) -> Program:
    """A Sequential in a Sequential in a Sequential."""
    depth = min(n, 60)
    text = "nn.Linear(32, 32)"
    for _ in range(depth):
        text = f"nn.Sequential(nn.ReLU(), {text})"
    return script(init=f"self.body = {text}", forward="h = self.body(h)")


@pattern
def sequentials_of_sequentials(n: int) -> Program:
    """`body = nn.Sequential(body, body)`."""
    return script(
        init="body = nn.Linear(32, 32)\n"
        + repeated(n, "body = nn.Sequential(body, body)")
        + "\nself.body = body",
        forward="h = self.body(h)",
    )


@pattern
def wrappers_of_wrappers(n: int) -> Program:
    """`model = Wrapper(model)`, over and over."""
    return script(
        top="class Wrapper(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n        self.inner = inner\n\n"
        "    def forward(self, x):\n        return self.inner(x)\n",
        made=repeated(n, "model = Wrapper(model)"),
    )


@pattern
def experts(n: int) -> Program:
    """A mixture of experts, each weighted."""
    return script(
        init="self.gate = nn.Linear(32, 32)\n" + repeated(n, "self.expert{i} = nn.Linear(32, 32)"),
        forward="g = torch.softmax(self.gate(h), -1)\nmixed = 0\n"
        + repeated(n, "mixed = mixed + g[:, {i} % 32].unsqueeze(-1) * self.expert{i}(h)")
        + "\nh = mixed",
    )


@pattern
def one_layer_often(n: int) -> Program:
    """One layer that is called again and again."""
    return script(init="self.again = nn.Linear(32, 32)", forward=repeated(n, "h = torch.relu(self.again(h))"))


@pattern
def layers_in_dict(n: int) -> Program:
    """A ModuleDict, called by key."""
    return script(
        init="self.parts = nn.ModuleDict()\n" + repeated(n, 'self.parts["part{i}"] = nn.Linear(32, 32)'),
        forward=repeated(n, 'h = self.parts["part{i}"](h)'),
    )


@pattern
def branches_in_forward(n: int) -> Program:
    """Layers that are used where an option says so."""
    return script(
        fields=repeated(n, "use{i}: bool = flag"),
        init=repeated(n, "self.layer{i} = nn.Linear(32, 32) if len(sys.argv) > {i} else None"),
        forward=repeated(n, "if self.layer{i} is not None:", "    h = h + self.layer{i}(h)"),
    )


@pattern
def transformers(n: int) -> Program:
    """Encoder layers, one for each line."""
    return script(
        init=repeated(n, "self.layer{i} = nn.TransformerEncoderLayer(32, 4, batch_first=True)"),
        forward="h = h.unsqueeze(1)\n" + repeated(n, "h = self.layer{i}(h)") + "\nh = h.squeeze(1)",
    )


@pattern
def conv_nets(n: int) -> Program:
    """Convolution, norm and activation, many times in one Sequential."""
    return script(
        init="self.body = nn.Sequential(\n"
        + repeated(
            n, "    nn.Conv1d(1, 1, 3, padding=1),", "    nn.BatchNorm1d(1),", "    nn.ReLU(inplace=True),"
        )
        + "\n)",
        forward="h = self.body(h.unsqueeze(1)).squeeze(1)",
    )


@pattern
def tied_weights(n: int) -> Program:
    """Layers that share their weights with the one before."""
    return script(
        init="self.layer0 = nn.Linear(32, 32)\n"
        + repeated(
            n, "self.layer{next} = nn.Linear(32, 32)", "self.layer{next}.weight = self.layer{i}.weight"
        ),
        forward=repeated(n, "h = self.layer{i}(h)"),
    )
