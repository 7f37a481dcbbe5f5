"""Thirty textbook bugs, each with a twin that only looks like it.

A pair is the body of a training function. It speaks of `model`, `optimizer`, `loader`, `criterion`, `scheduler` and
`scaler`, which `forms.py` hands over in nine ways. The line with the bug ends in `# BUG`: in the twin, it reads as after
the arrow, or is left out.
"""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A bug and its twin, as bodies of one function; `code` is the rule that speaks of the bug."""

    name: str
    code: str
    bug: str
    twin: str

    @property
    def line(self) -> int:
        """The line of the bug, from 0."""
        return next(number for number, line in enumerate(self.bug.splitlines()) if line.endswith("# BUG"))


def _pair(name: str, code: str, bug: str, *changes: tuple[str, str]) -> Pair:
    twin = bug.replace("  # BUG", "")
    for old, new in changes:
        assert old in twin, (name, old)
        twin = twin.replace(old, new)
    return Pair(name, code, bug.strip("\n"), twin.strip("\n"))


_STEP = """
model.train()
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
"""

_AMP = """
model.train()
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""

_SCALED = """
model.train()
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""


PAIRS = (
    _pair(
        "zero_grad dropped",
        "TL301",
        "model.train()\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()  # BUG",
        ("    loss = ", "    optimizer.zero_grad()\n    loss = "),
    ),
    _pair(
        "zero_grad between backward and step",
        "TL302",
        "model.train()\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n"
        "    optimizer.zero_grad()  # BUG\n    optimizer.step()",
        (
            "    optimizer.zero_grad()\n    optimizer.step()",
            "    optimizer.step()\n    optimizer.zero_grad()",
        ),
    ),
    _pair(
        "step before backward",
        "TL303",
        "model.train()\nfor x, y in loader:\n    optimizer.zero_grad()\n    loss = criterion(model(x), y)\n"
        "    optimizer.step()  # BUG\n    loss.backward()",
        ("    optimizer.step()\n    loss.backward()", "    loss.backward()\n    optimizer.step()"),
    ),
    _pair(
        "step dropped",
        "TL305",
        "model.train()\nfor x, y in loader:\n    optimizer.zero_grad()\n    loss = criterion(model(x), y)\n    loss.backward()  # BUG",
        ("loss.backward()", "loss.backward()\n    optimizer.step()"),
    ),
    _pair(
        "backward dropped",
        "TL306",
        "model.train()\nfor x, y in loader:\n    optimizer.zero_grad()\n    loss = criterion(model(x), y)\n    optimizer.step()  # BUG",
        ("    optimizer.step()", "    loss.backward()\n    optimizer.step()"),
    ),
    _pair(
        "scheduler before optimizer",
        "TL304",
        "model.train()\nfor epoch in range(9):\n    scheduler.step()  # BUG\n    for x, y in loader:\n"
        "        optimizer.zero_grad()\n        criterion(model(x), y).backward()\n        optimizer.step()",
        ("    scheduler.step()\n    for", "    for"),
        ("        optimizer.step()", "        optimizer.step()\n    scheduler.step()"),
    ),
    _pair(
        "evaluation mode stays on",
        "TL310",
        "for epoch in range(9):\n    for x, y in loader:\n        optimizer.zero_grad()\n"
        "        loss = criterion(model(x), y)  # BUG\n        loss.backward()\n        optimizer.step()\n"
        "    model.eval()\n    with torch.no_grad():\n        for x, y in loader:\n            model(x)",
        ("for epoch in range(9):\n", "for epoch in range(9):\n    model.train()\n"),
    ),
    _pair(
        "validation without no_grad",
        "TL312",
        "for epoch in range(9):\n    model.train()\n    for x, y in loader:\n        optimizer.zero_grad()\n"
        "        criterion(model(x), y).backward()\n        optimizer.step()\n    correct = 0\n    model.eval()\n"
        "    for x, y in loader:\n        out = model(x)  # BUG\n        correct += (out.argmax(-1) == y).sum().item()\n"
        "    print(correct)",
        (
            "        out = model(x)\n        correct +=",
            "        with torch.no_grad():\n            out = model(x)\n        correct +=",
        ),
    ),
    _pair(
        "clipping after the step",
        "TL313",
        "model.train()\nfor x, y in loader:\n    optimizer.zero_grad()\n    criterion(model(x), y).backward()\n    optimizer.step()\n"
        "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # BUG",
        (
            "    optimizer.step()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
            "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()",
        ),
    ),
    _pair(
        "accumulation that is not scaled",
        "TL314",
        "model.train()\nfor i, (x, y) in enumerate(loader):\n    loss = torch.nn.functional.cross_entropy(model(x), y)\n"
        "    loss.backward()  # BUG\n    if (i + 1) % 4 == 0:\n"
        "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step()\n        optimizer.zero_grad()",
        ("loss.backward()", "(loss / 4).backward()"),
    ),
    _pair(
        "sum of losses with their graphs",
        "TL205",
        "total = 0\nmodel.train()\nfor x, y in loader:\n    optimizer.zero_grad()\n    loss = criterion(model(x), y)\n"
        "    loss.backward()\n    optimizer.step()\n    total += loss  # BUG\nprint(total)",
        ("total += loss", "total += loss.item()"),
    ),
    _pair("loss detached", "TL202", _STEP.replace("y)\n", "y).detach()  # BUG\n"), (".detach()", "")),
    _pair(
        "loss rebuilt",
        "TL203",
        _STEP.replace(
            "    loss.back", "    loss = torch.tensor(loss.item(), requires_grad=True)  # BUG\n    loss.back"
        ),
        ("    loss = torch.tensor(loss.item(), requires_grad=True)\n", ""),
    ),
    _pair(
        "prediction detached",
        "TL202",
        _STEP.replace("criterion(model(x), y)", "criterion(model(x).detach(), y)  # BUG"),
        (".detach()", ""),
    ),
    _pair(
        "loss of .data",
        "TL202",
        _STEP.replace("criterion(model(x), y)", "criterion(model(x).data, y)  # BUG"),
        (".data", ""),
    ),
    _pair(
        "argmax in the loss",
        "TL203",
        _STEP.replace(
            "criterion(model(x), y)", "(model(x).argmax(-1) != y).float().mean().requires_grad_()  # BUG"
        ),
        (
            "(model(x).argmax(-1) != y).float().mean().requires_grad_()",
            "(model(x) - y).float().pow(2).mean()",
        ),
    ),
    _pair(
        "softmax before cross entropy",
        "TL101",
        _STEP.replace(
            "criterion(model(x), y)",
            "torch.nn.functional.cross_entropy(torch.softmax(model(x), -1), y)  # BUG",
        ),
        ("torch.softmax(model(x), -1)", "model(x)"),
    ),
    _pair(
        "sigmoid before BCE with logits",
        "TL104",
        _STEP.replace(
            "criterion(model(x), y)",
            "torch.nn.functional.binary_cross_entropy_with_logits(torch.sigmoid(model(x)), y)  # BUG",
        ),
        ("torch.sigmoid(model(x))", "model(x)"),
    ),
    _pair(
        "NLL loss of logits",
        "TL103",
        _STEP.replace(
            "criterion(model(x), y)", "torch.nn.functional.nll_loss(torch.softmax(model(x), -1), y)  # BUG"
        ),
        ("torch.softmax(model(x), -1)", "torch.log_softmax(model(x), -1)"),
    ),
    _pair(
        "arguments of the loss swapped",
        "TL110",
        _STEP.replace("criterion(model(x), y)", "torch.nn.functional.cross_entropy(y, model(x))  # BUG"),
        ("(y, model(x))", "(model(x), y)"),
    ),
    _pair(
        "softmax over the batch",
        "TL109",
        "model.train()\nfor x, y in loader:\n    optimizer.zero_grad()\n    weights = torch.nn.functional.softmax(model(x))  # BUG\n"
        "    loss = (weights * y).sum()\n    loss.backward()\n    optimizer.step()",
        ("softmax(model(x))", "softmax(model(x), dim=-1)"),
    ),
    _pair(
        "clipping of scaled gradients",
        "TL404",
        _AMP.replace("    scaler.unscale_(optimizer)\n", "").replace("1.0)", "1.0)  # BUG"),
        ("    torch.nn.utils.clip", "    scaler.unscale_(optimizer)\n    torch.nn.utils.clip"),
    ),
    _pair(
        "scaler never updated",
        "TL405",
        _AMP.replace("    scaler.update()\n", "").replace(
            "scaler.step(optimizer)", "scaler.step(optimizer)  # BUG"
        ),
        ("    scaler.step(optimizer)", "    scaler.step(optimizer)\n    scaler.update()"),
    ),
    _pair(
        "step past the scaler",
        "TL405",
        _SCALED.replace("scaler.step(optimizer)", "optimizer.step()  # BUG"),
        ("optimizer.step()", "scaler.step(optimizer)"),
    ),
    _pair(
        "backward in autocast",
        "TL406",
        "model.train()\nfor x, y in loader:\n    optimizer.zero_grad()\n    with torch.autocast('cuda', dtype=torch.bfloat16):\n"
        "        loss = criterion(model(x), y)\n        loss.backward()  # BUG\n    optimizer.step()",
        ("        loss.backward()", "    loss.backward()"),
    ),
    _pair(
        "float16 without a scaler",
        "TL402",
        "model.train()\nfor x, y in loader:\n    optimizer.zero_grad()\n    with torch.autocast('cuda', dtype=torch.float16):\n"
        "        loss = criterion(model(x), y)\n    loss.backward()  # BUG\n    optimizer.step()",
        ("torch.float16", "torch.bfloat16"),
    ),
    _pair(
        "batch on another device",
        "TL801",
        _STEP.replace("model.train()\n", "model.to('cuda')\nmodel.train()\n").replace(
            "criterion(model(x), y)", "criterion(model(torch.zeros(2, 3, device='cpu')), y)  # BUG"
        ),
        ("device='cpu'", "device='cuda'"),
    ),
    _pair(
        "mask filled with zero",
        "TL601",
        "model.train()\nmask = torch.tril(torch.ones(9, 9))\nfor q, k, y in loader:\n    optimizer.zero_grad()\n"
        "    scores = model(q) @ model(k).transpose(-2, -1) / 8\n    scores = scores.masked_fill(mask == 0, 0.0)  # BUG\n"
        "    loss = criterion(torch.softmax(scores, -1) @ k, y)\n    loss.backward()\n    optimizer.step()",
        ("0.0)", "float('-inf'))"),
    ),
    _pair(
        "one iteration's cache emptied after another",
        "TL803",
        _STEP.replace("    optimizer.step()", "    optimizer.step()\n    torch.cuda.empty_cache()  # BUG"),
        ("    torch.cuda.empty_cache()", "torch.cuda.empty_cache()"),
    ),
    _pair(
        "optimizer made in the loop",
        "TL307",
        "model.train()\nfor x, y in loader:\n    optimizer = torch.optim.Adam(model.parameters())  # BUG\n    optimizer.zero_grad()\n"
        "    criterion(model(x), y).backward()\n    optimizer.step()",
        (
            "for x, y in loader:\n    optimizer = torch.optim.Adam(model.parameters())",
            "optimizer = torch.optim.Adam(model.parameters())\nfor x, y in loader:",
        ),
    ),
)
