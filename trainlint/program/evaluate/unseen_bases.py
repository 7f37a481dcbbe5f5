"""Classes that inherit from a class that is not in sight, and are modules of torch's by all that they do."""

from __future__ import annotations

import re

from trainlint.facts.api.classes import NOT_TORCH
from trainlint.facts.api.frameworks import OWNED
from trainlint.facts.api.layers import WITH_PARAMETERS
from trainlint.program.evaluate.values import Library
from trainlint.program.source import syntax as s

_A_MODULE = re.compile(
    r"\w*(?:Module|Model|Net|Network|Layer|Block|Head|Neck|Backbone|Encoder|Decoder|Classifier|Transformer|"
    r"Generator|Discriminator|Policy|Agent)(?:Base|Mixin)?\d*"
)
"""How a base class of modules is called."""
_NO_MODULE = re.compile(r"Lightning|Lit[A-Z]|DataModule|^TF|Flax|Keras|Trainer|Config")


def is_module(base: Library, code: s.Class) -> bool:
    """Whether a class has a `forward` and keeps layers of torch's, as a base class out of sight that is called like a module lets
    it; not what a framework trains."""
    if base.name.startswith(("torch.", *NOT_TORCH)):
        return False
    last = base.name.rpartition(".")[2]
    if _A_MODULE.fullmatch(last) is None or _NO_MODULE.search(last):
        return False
    methods = {one.name: one for one in code.body if isinstance(one, s.Function)}
    init = methods.get("__init__")
    if init is None or "forward" not in methods or not OWNED.isdisjoint(methods):
        return False
    return not {"super", "__init__"}.isdisjoint(init.names) and not init.names.isdisjoint(WITH_PARAMETERS)
