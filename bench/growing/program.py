"""A training script with room for what a pattern repeats, and the list of all patterns."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MAIN = "train.py"

_SCRIPT = """\
import contextlib
import copy
import functools
import itertools
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

flag, other = "--flag" in sys.argv, "--other" in sys.argv
<top>


class Net(nn.Module):
    <fields>

    def __init__(self, width=32):
        super().__init__()
        self.first = nn.Linear(32, width)
        self.norm = nn.BatchNorm1d(width)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Linear(width, 32)
        <init>

    def forward(self, x):
        h = self.norm(self.first(x))
        <forward>
        return self.last(self.drop(h))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
data = TensorDataset(torch.randn(64, 32), torch.randint(32, (64,)))
loader = DataLoader(data, batch_size=8, shuffle=True)
criterion = nn.CrossEntropyLoss()
<made>
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
<before>
total = 0.0
for epoch in range(3):
    model.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        <step>
        optimizer.zero_grad()
        scores = model(x)
        <scores>
        loss = criterion(scores, y)
        <loss>
        loss.backward()
        <gradients>
        optimizer.step()
        total += loss.item()
        <after>
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            total += criterion(model(x.to(device)), y.to(device)).item()
    <epoch>
<end>
print(total)
torch.save(model.state_dict(), "model.pt")
"""
_SLOT = re.compile(r"^( *)<(\w+)>\n", re.MULTILINE)
_LAYOUT = frozenset(
    (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)
)


@dataclass(frozen=True)
class Program:
    """Files by path; `train.py` is run."""

    files: Mapping[str, str]

    @property
    def tokens(self) -> int:
        """How much text there is, however it is laid out."""
        return sum(
            token.type not in _LAYOUT
            for text in self.files.values()
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )


Pattern = Callable[[int], Program]
"""From a size to a program of about that many repetitions."""

PATTERNS: dict[str, Pattern] = {}


def pattern(function: Pattern) -> Pattern:
    """Add a pattern to the list, under the name of its function."""
    name = function.__name__
    assert name not in PATTERNS, f"two patterns are called {name}"
    PATTERNS[name] = function
    return function


def script(others: Mapping[str, str] | None = None, /, **slots: str) -> Program:
    """A model that is trained and validated, with lines of the pattern's own in some of its slots.

    `others` are further files, by path.
    """

    def filled(slot: re.Match[str]) -> str:
        text = slots.pop(slot[2], "")
        return textwrap.indent(text.rstrip("\n") + "\n", slot[1]) if text else ""

    text = _SLOT.sub(filled, _SCRIPT)
    assert not slots, f"no such slot: {', '.join(slots)}"
    return Program({**(others or {}), MAIN: text})


def repeated(n: int, *lines: str) -> str:
    """Lines, `n` times; `{i}` counts from 0, `{next}` is one more."""
    return "\n".join(line.format(i=i, next=i + 1) for i in range(n) for line in lines)


def nested(n: int, opening: str, innermost: str) -> str:
    """Blocks inside each other: `{i}` in the opening line counts from the outermost."""
    blocks = [textwrap.indent(opening.format(i=i, next=i + 1), "    " * i) for i in range(n)]
    return "\n".join((*blocks, textwrap.indent(innermost, "    " * n)))


def chained(n: int, definition: str, innermost: str, name: str = "part") -> str:
    """`n` functions, each of which calls the next: `{i}` is its own number, `{next}` that of the one it calls.

    The last one, `NAME<n>`, is `innermost`, the body of a function of `x`.
    """
    last = f"def {name}{n}(x):\n{textwrap.indent(innermost, '    ')}"
    return "\n\n\n".join((last, *(definition.format(i=i, next=i + 1) for i in reversed(range(n)))))
