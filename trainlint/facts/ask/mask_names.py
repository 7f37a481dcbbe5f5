"""What names say of masks and tokens."""

from __future__ import annotations

import re

from trainlint.facts.model.effort import spend
from trainlint.facts.model.values import Constant, Op, Unknown, Value, constant

SAYS_ITSELF = re.compile("mask|pad|ignore|valid|keep")
"""Words in the names of what says by itself what is padding, and is no token."""

SAYS_TOKENS = re.compile(r"tokens?\b|input_ids|\b(ids|src|tgt|trg)\b")
"""Names of tokens, of which number 0 is the padding."""

SAYS_LENGTH = re.compile(
    r"len|\b(?:n|ns|sizes?|counts?|(?:n|num)_(?:valid|real|used|points?|pts|tokens?|nodes?|atoms?|items?|frames?|words?|objects?))\b"
)
"""Names of how many elements each sequence has."""


def is_attention_mask(value: Value) -> bool:
    """Whether a value is what tokenizers call `attention_mask`: 1 at tokens, 0 at padding."""
    if isinstance(value, Unknown):
        return value.text.rpartition(".")[2] == "attention_mask"
    if not isinstance(value, Op) or value.name not in ("getitem", "getattr"):
        return False
    key = value.options.get("index") or value.options.get("name") or value.option(1, "name")
    return bool(constant(key) == "attention_mask")


def words_of(op: Op, value: Value) -> str:
    """How the program spells one side of a comparison."""
    left, sign, right = op.text.partition(f" {op.name} ")
    if not sign:  # `ids.eq(pad)`
        left, sign, right = op.text.partition(f".{op.name}(")
    found = [(left if value is op.inputs[0] else right) if sign else ""]
    one: Value = value
    while isinstance(one, Op):
        spend()
        found.append(one.text)
        name = one.options.get("name")
        if isinstance(name, Constant):
            found.append(str(name.value))
        if not one.inputs or one.name in ("call", "framework", "output"):
            break
        one = one.inputs[0]
    if isinstance(one, Unknown):
        found.append(one.text)
    return " ".join(found).lower()
