"""Programs of several files."""

from __future__ import annotations

from .program import Program, pattern, repeated, script

_LAYER = "import torch\nfrom torch import nn\n\n\nclass Layer{i}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = nn.Linear(32, 32)\n\n    def forward(self, x):\n        return torch.relu(self.body(x))\n"


@pattern
def one_layer_a_file(n: int) -> Program:
    """A file for every layer."""
    return script(
        {f"layers/layer{i}.py": _LAYER.format(i=i) for i in range(n)},
        top=repeated(n, "from layers.layer{i} import Layer{i}"),
        init=repeated(n, "self.layer{i} = Layer{i}()"),
        forward=repeated(n, "h = self.layer{i}(h)"),
    )


@pattern
def passed_on(n: int) -> Program:
    """A name that each file imports from the next."""
    files = {f"part{i}.py": f"from part{i + 1} import Layer0\n" for i in range(n)}
    files[f"part{n}.py"] = _LAYER.format(i=0)
    return script(
        files, top="from part0 import Layer0", init="self.body = Layer0()", forward="h = self.body(h)"
    )


@pattern
def passed_on_with_stars(n: int) -> Program:
    """All names that each file imports from the next two."""
    files = {
        f"part{i}.py": f"from part{i + 1} import *\nfrom part{min(i + 2, n)} import *\n\n\nscale{i} = {i}\n"
        for i in range(n)
    }
    files[f"part{n}.py"] = _LAYER.format(i=0)
    return script(files, top="from part0 import *", init="self.body = Layer0()", forward="h = self.body(h)")


@pattern
def files_that_call(n: int) -> Program:
    """A helper in each file that calls that of the next file twice."""
    files = {
        f"part{i}.py": f"import torch\n\nfrom part{i + 1} import part{i + 1}\n\n\ndef part{i}(x):\n    return part{i + 1}(x) + torch.relu(part{i + 1}(-x))\n"
        for i in range(n)
    }
    files[f"part{n}.py"] = f"import torch\n\n\ndef part{n}(x):\n    return torch.tanh(x)\n"
    return script(files, top="from part0 import part0", forward="h = part0(h)")


@pattern
def files_in_ring(n: int) -> Program:
    """Files that import each other."""
    files = {
        f"part{i}.py": f"import torch\nfrom torch import nn\n\nimport part{(i + 1) % n}\n\n\ndef run{i}(x, depth):\n    return torch.relu(x) if depth == 0 else part{(i + 1) % n}.run{(i + 1) % n}(x, depth - 1)\n"
        for i in range(n)
    }
    return script(files, top="import part0", forward="h = part0.run0(h, 3)")


@pattern
def scripts_side_by_side(n: int) -> Program:
    """Many scripts that train the same model."""
    one = "import torch\nfrom torch.nn import functional as F\n\nfrom layers import Layer0\n\nmodel = Layer0()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor _ in range(9):\n    x, y = torch.randn(4, 32), torch.randint(32, (4,))\n    optimizer.zero_grad()\n    F.cross_entropy(model(x), y).backward()\n    optimizer.step()\n"
    return script(
        {"layers.py": _LAYER.format(i=0), **{f"train{i}.py": one for i in range(n)}},
        top="from layers import Layer0",
        init="self.body = Layer0()",
        forward="h = self.body(h)",
    )
