"""Classes of the program: diamonds, registries, objects that know each other."""

from __future__ import annotations

from .program import Program, pattern, repeated, script


@pattern
def class_chain(n: int) -> Program:
    """Each class inherits from the one before, and calls it."""
    return script(
        top="class Base0(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layer0 = nn.Linear(32, 32)\n\n    def forward(self, x):\n        return self.layer0(x)\n\n"
        + repeated(
            n,
            "class Base{next}(Base{i}):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.layer{next} = nn.Linear(32, 32)",
            "",
            "    def forward(self, x):",
            "        return super().forward(x) + self.layer{next}(x)",
            "",
        ),
        init=f"self.body = Base{n}()",
        forward="h = self.body(h)",
    )


@pattern
def class_diamonds(n: int) -> Program:
    """Two classes inherit from each, and the next from both."""
    return script(
        top="class Base0(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n\n"
        + repeated(
            n,
            "class Left{i}(Base{i}):",
            "    def forward(self, x):",
            "        return super().forward(x) * 2",
            "",
            "class Right{i}(Base{i}):",
            "    def forward(self, x):",
            "        return super().forward(x) + x",
            "",
            "class Base{next}(Left{i}, Right{i}):",
            "    pass",
            "",
        ),
        init=f"self.body = Base{n}()",
        forward="h = self.body(h)",
    )


@pattern
def super_twice(n: int) -> Program:
    """`super().part(super().part(x))`."""
    return script(
        top="class Base0(nn.Module):\n    def part(self, x):\n        return torch.relu(x)\n\n"
        + repeated(
            n,
            "class Base{next}(Base{i}):",
            "    def part(self, x):",
            "        return super().part(super().part(x))",
            "",
        ),
        init=f"self.body = Base{n}()",
        forward="h = self.body.part(h)",
    )


@pattern
def mixins(n: int) -> Program:
    """A class with many bases."""
    return script(
        top=repeated(n, "class Mixin{i}:", "    def part{i}(self, x):", "        return torch.relu(x)", "")
        + "\n\nclass Mixed("
        + ", ".join(f"Mixin{i}" for i in range(n))
        + ", nn.Module):\n    def forward(self, x):\n"
        + repeated(n, "        x = self.part{i}(x)")
        + "\n        return x",
        init="self.body = Mixed()",
        forward="h = self.body(h)",
    )


@pattern
def registry_of_classes(n: int) -> Program:
    """Classes that a decorator puts into a dict, and one is made by name."""
    return script(
        top="MODELS = {}\n\n\ndef register(name):\n    def add(cls):\n        MODELS[name] = cls\n        return cls\n    return add\n\n"
        + repeated(
            n,
            '@register("model{i}")',
            "class Model{i}(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.body = nn.Linear(32, 32)",
            "",
            "    def forward(self, x):",
            "        return torch.relu(self.body(x))",
            "",
        ),
        init="self.body = MODELS[sys.argv[1]]()",
        forward="h = self.body(h)",
    )


@pattern
def registry_of_functions(n: int) -> Program:
    """Loss functions in a dict, all of which are added up."""
    return script(
        top="LOSSES = {}\n\n\ndef register(function):\n    LOSSES[function.__name__] = function\n    return function\n\n"
        + repeated(
            n, "@register", "def loss{i}(scores, y):", "    return F.cross_entropy(scores * {next}, y)", ""
        ),
        loss="for name, function in LOSSES.items():\n    loss = loss + function(scores, y)\nloss = loss + LOSSES[sys.argv[1]](scores, y)",
    )


@pattern
def registries_of_registries(n: int) -> Program:
    """A function looked up by name that looks the next one up."""
    return script(
        top="STEPS = {}\n\n\ndef step0(x, name):\n    return torch.relu(x)\n\n\nSTEPS['step0'] = step0\n"
        + repeated(
            n,
            "def step{next}(x, name):",
            "    return STEPS[name](x, name) + STEPS['step{i}'](x, name)",
            "",
            "STEPS['step{next}'] = step{next}",
            "",
        ),
        forward="h = STEPS[sys.argv[1]](h, sys.argv[2])",
    )


@pattern
def team(n: int) -> Program:
    """Modules that each know all the others."""
    return script(
        top="class Member(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.everyone = []\n\n    def forward(self, x):\n        return torch.tanh(x)\n",
        init="team = []\n"
        + repeated(n, "self.member{i} = Member()", "team.append(self.member{i})")
        + "\nfor one in team:\n    one.everyone = team",
        forward=repeated(n, "h = self.member{i}(h)"),
    )


@pattern
def peers(n: int) -> Program:
    """Modules that each have all the others as attributes."""
    count = min(n, 20)
    known = "\n".join(
        f"self.part{i}.peer{j} = self.part{j}" for i in range(count) for j in range(count) if i != j
    )
    return script(
        top="class Part(nn.Module):\n    def forward(self, x):\n        return torch.tanh(x)\n",
        init=repeated(count, "self.part{i} = Part()") + "\n" + known,
        forward=repeated(count, "h = self.part{i}(h)"),
    )


@pattern
def ring(n: int) -> Program:
    """Modules that know the one before and the one after."""
    links = "\n".join(
        f"self.part{i}.before = self.part{(i - 1) % n}\nself.part{i}.behind = self.part{(i + 1) % n}"
        for i in range(n)
    )
    return script(
        top="class Part(nn.Module):\n    def forward(self, x):\n        return torch.tanh(x)\n",
        init=repeated(n, "self.part{i} = Part()") + "\n" + links,
        forward=repeated(n, "h = self.part{i}(h)"),
    )


@pattern
def parents(n: int) -> Program:
    """Parts of a trainer that know the trainer, and each other through it."""
    return script(
        top=repeated(
            n,
            "class Part{i}:",
            "    def __init__(self, parent):",
            "        self.trainer = parent",
            "        self.model = parent.model",
            "",
        )
        + "\n\nclass Trainer:\n    def __init__(self, model):\n        self.model = model\n"
        + repeated(n, "        self.part{i} = Part{i}(self)")
        + "\n\n    def fit(self, loader, optimizer):\n        for x, y in loader:\n            optimizer.zero_grad()\n            F.cross_entropy(self.model(x), y).backward()\n            optimizer.step()\n",
        made="model.trainer = Trainer(model)",
        end="model.trainer.fit(loader, optimizer)",
    )


@pattern
def parents_that_are_modules(n: int) -> Program:
    """Layers that know the model that they are in."""
    return script(
        top="class Part(nn.Module):\n    def __init__(self, parent):\n        super().__init__()\n        self.parent = parent\n        self.body = nn.Identity()\n\n    def forward(self, x):\n        return self.body(x)\n",
        init=repeated(n, "self.part{i} = Part(self)"),
        forward=repeated(n, "h = self.part{i}(h)"),
    )


@pattern
def helpers_that_hold_each_other(n: int) -> Program:
    """Plain objects that each hold all made before, twice."""
    return script(
        top="class Holder:\n    def __init__(self, left, right):\n        self.left = left\n        self.right = right\n",
        init="held = nn.Identity()\n" + repeated(n, "held = Holder(held, held)") + "\nself.held = held",
        forward="h = h + 0",
    )


@pattern
def modules_that_hold_each_other(n: int) -> Program:
    """`module = Pair(module, module)`."""
    return script(
        top="class Pair(nn.Module):\n    def __init__(self, left, right):\n        super().__init__()\n        self.left = left\n        self.right = right\n\n    def forward(self, x):\n        return self.left(x) + x\n",
        init="held = nn.Identity()\n" + repeated(n, "held = Pair(held, held)") + "\nself.held = held",
        forward="h = self.held(h)",
    )


@pattern
def modules_called_twice(n: int) -> Program:
    """`module = Twice(module)`, each of which calls what it holds twice."""
    return script(
        top="class Twice(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n        self.inner = inner\n\n    def forward(self, x):\n        return self.inner(x) + self.inner(-x)\n",
        init="held = nn.Linear(32, 32)\n" + repeated(n, "held = Twice(held)") + "\nself.held = held",
        forward="h = self.held(h)",
    )


@pattern
def properties(n: int) -> Program:
    """Properties that ask the one before twice."""
    return script(
        fields="@property\ndef size0(self):\n    return self.first.weight.shape[0]\n\n"
        + repeated(n, "@property", "def size{next}(self):", "    return self.size{i} + self.size{i}", ""),
        forward=f"h = h / self.size{n}",
    )


@pattern
def attributes_of_attributes(n: int) -> Program:
    """`self.a.b.c.d`, as long as it goes."""
    return script(
        top="class Config:\n    pass\n",
        init="self.config = Config()\nnow = self.config\n"
        + repeated(n, "now.inner = Config()", "now = now.inner")
        + "\nnow.rate = 0.1",
        forward=f"h = h * self.config{'.inner' * n}.rate",
    )


@pattern
def many_attributes(n: int) -> Program:
    """Settings that are read and written in a forward."""
    return script(
        init=repeated(n, "self.count{i} = {i}"),
        forward=repeated(
            n,
            "self.count{i} = self.count{next} + 1 if self.training else self.count{i}",
            "h = h * self.count{i}",
        ).replace(f"self.count{n} ", "self.count0 "),
    )


@pattern
def states_kept(n: int) -> Program:
    """A state that lives on in the model from one forward to the next."""
    return script(
        init=repeated(n + 1, "self.state{i} = torch.zeros(32)"),
        forward=repeated(
            n, "self.state{i} = 0.9 * self.state{next} + 0.1 * h.detach().mean(0)", "h = h + self.state{i}"
        ),
    )


@pattern
def dataclasses(n: int) -> Program:
    """Configurations in configurations."""
    return script(
        top="import dataclasses\n\n\n@dataclasses.dataclass\nclass Config0:\n    rate: float = 0.1\n\n"
        + repeated(
            n,
            "@dataclasses.dataclass",
            "class Config{next}:",
            "    left: Config{i} = dataclasses.field(default_factory=Config{i})",
            "    right: Config{i} = dataclasses.field(default_factory=Config{i})",
            "",
        ),
        init=f"self.config = Config{n}()",
        forward=f"h = F.dropout(h, self.config{'.left' * n}.rate)",
    )


@pattern
def singletons(n: int) -> Program:
    """Class attributes that are filled by methods."""
    return script(
        top="class Shared:\n    cache = {}\n\n"
        + repeated(
            n,
            "    @classmethod",
            "    def get{i}(cls):",
            "        if 'key{i}' not in cls.cache:",
            "            cls.cache['key{i}'] = nn.Linear(32, 32)",
            "        return cls.cache['key{i}']",
            "",
        ),
        init=repeated(n, "self.layer{i} = Shared.get{i}()"),
        forward=repeated(n, "h = self.layer{i}(h)"),
    )


@pattern
def models_after_models(n: int) -> Program:
    """Many models in one file, each trained by a function of its own."""
    return script(
        top=repeated(
            n,
            "class Model{i}(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.body = nn.Linear(32, 32)",
            "",
            "    def forward(self, x):",
            "        return self.body(x)",
            "",
            "def fit{i}(loader):",
            "    model = Model{i}()",
            "    optimizer = torch.optim.Adam(model.parameters())",
            "    for x, y in loader:",
            "        optimizer.zero_grad()",
            "        F.cross_entropy(model(x), y).backward()",
            "        optimizer.step()",
            "",
        ),
        end=repeated(n, "fit{i}(loader)"),
    )


_PART = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(32, 32)

    def forward(self, x):
        return self.body(x)
"""


def _known_to_all(n: int) -> str:
    """Modules that each have the four before and the four after as attributes."""
    lines = repeated(n, "part{i} = Part()")
    for i in range(n):
        lines += "".join(
            f"\npart{i}.peer{j} = part{j}" for j in range(max(0, i - 4), min(n, i + 5)) if i != j
        )
    return lines


@pattern
def neighbours_in_evaluation(n: int) -> Program:
    """Modules that know their neighbours, one of which is trained in evaluation mode."""
    return script(
        top=_PART,
        before=_known_to_all(n) + "\noptimizer = torch.optim.SGD(part0.parameters(), lr=0.1)\npart0.eval()",
        after="optimizer.zero_grad()\ncriterion(part0(x), y).backward()\noptimizer.step()",
    )


@pattern
def neighbours_never_evaluated(n: int) -> Program:
    """Modules that know their neighbours, one of which is validated in whatever mode it is."""
    return script(
        top=_PART,
        before=_known_to_all(n) + "\noptimizer = torch.optim.SGD(part0.parameters(), lr=0.1)",
        after="optimizer.zero_grad()\ncriterion(part0(x), y).backward()\noptimizer.step()",
        epoch="with torch.no_grad():\n    for x, y in loader:\n        total += (part0(x).argmax(-1) == y).sum().item()",
    )


@pattern
def wrappers_held_ten_times(n: int) -> Program:
    """`wrapper.parts = [wrapper before] * 10`, written out: who holds what is asked of all of it."""
    return script(
        top=_PART,
        before="part0 = Part()\n"
        + repeated(n, "part{next} = Part()", f"part{{next}}.parts = [{', '.join(['part{i}'] * 10)}]")
        + f"\noptimizer = torch.optim.SGD(part{n}.parameters(), lr=0.1)\npart{n}.eval()",
        after=f"optimizer.zero_grad()\ncriterion(part{n}(x), y).backward()\noptimizer.step()",
    )
