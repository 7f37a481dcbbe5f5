"""What a dotted name of torch's, or of a library beside it, is the name of."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

from trainlint.facts.api.classes import (
    MODULE,
    MODULE_CLASSES,
    MODULE_MAKERS,
    NO_MODULES,
    NOT_TORCH,
    OPTIMIZER,
    OPTIMIZER_CLASSES,
    OPTIMIZER_MODULES,
    PARAMETER,
    PRETRAINED,
    SAMPLER,
    SCHEDULER,
)
from trainlint.facts.api.frameworks import TRAINER, TRAINERS
from trainlint.facts.api.losses import LOSSES
from trainlint.facts.api.noted import ADDS_HOOKS, METRICS, NOTED
from trainlint.facts.api.operations import OWN_NAMES
from trainlint.facts.api.second_names import ALIASES, INNER_MODULES, NAMESPACES

_NAMES = 4096
"""Names of which it is remembered what they stand for: a program uses the same few again and again."""


def is_like_requires_grad(name: str) -> bool:
    """Whether an attribute's name is a slip of the pen for `requires_grad`."""
    letters = name.replace("_", "").lower()
    speaks_of_it = letters.startswith("req") and ("gra" in letters or "gard" in letters)
    return (
        name != "requires_grad"
        and speaks_of_it
        and SequenceMatcher(None, letters, "requiresgrad").ratio() > 0.85
    )


@lru_cache(_NAMES)
def is_noted(name: str) -> bool:
    """Whether rules ask about calls of a function."""
    return name in NOTED or name.startswith((*ADDS_HOOKS, METRICS)) or seeds(name)


def seeds(name: str) -> bool:
    """Whether a function, by its name, seeds a random generator."""
    last = name.rpartition(".")[2].lower()
    return "seed" in last and not last.startswith(("get", "initial", "is_"))


@lru_cache(_NAMES)
def operation(name: str) -> str:
    """The canonical name of an operation: `torch.nn.functional.softmax` is `softmax`. A name that values have for
    what else happens to them is no operation's, whoever uses it."""
    for prefix in NAMESPACES:
        if name.startswith(prefix):
            rest = name[len(prefix) :]
            return rest if "." not in rest and rest not in OWN_NAMES else name
    return name if name not in OWN_NAMES else f"{name}.{name}"


def _from_class(name: str) -> str:
    """A dotted name from its class on, or the last part where it has none: `linear.Linear`, `Module.__init__`."""
    parts = name.split(".")
    first = next((number for number, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return ".".join(parts[first:])


@lru_cache(_NAMES)
def canonical(name: str) -> str:
    """One dotted name for everything that torch lets people import from several places."""
    name = ALIASES.get(name, name)
    for inner, outer in (
        ("torch.nn.modules.", "torch.nn."),
        ("torch.nn.parallel.distributed.", "torch.nn.parallel."),
        ("torch.nn.parallel.data_parallel.", "torch.nn.parallel."),
        ("torch.utils.data.dataset.", "torch.utils.data."),
        ("torch.utils.data.sampler.", "torch.utils.data."),
    ):
        if name.startswith(inner):
            name = outer + _from_class(name[len(inner) :])
    name = _as_documented(name)
    return ALIASES.get(name, name)


def _as_documented(name: str) -> str:
    """What a class or a function of an inner module, or a method of such a class, is called by its package."""
    module, _, last = name.rpartition(".")
    if module in INNER_MODULES:
        return f"{INNER_MODULES[module]}.{last}"
    module, _, owner = module.rpartition(".")
    return f"{INNER_MODULES[module]}.{owner}.{last}" if module in INNER_MODULES else name


_NO_LAYERS = (
    "torch.nn.utils.",
    "torch.nn.attention.",
    "torch.nn.parameter.",
    "torch.nn.Buffer",
    "torch.nn.Uninitialized",
)
"""Beginnings of what `torch.nn` holds beside layers."""


def _is_no_layer(name: str) -> bool:
    return name == PARAMETER or name.startswith(_NO_LAYERS)


@lru_cache(_NAMES)
def library_bases(name: str) -> frozenset[str]:
    """What an instance of a library's class is, as far as rules care: itself and its known bases."""
    name = canonical(name)
    found = {name}
    last = name.rpartition(".")[2]
    if name.startswith(("torch.optim.lr_scheduler.", "torch.optim.swa_utils.SWALR")) or (
        name.startswith("transformers.") and last.startswith("get_") and "schedule" in last
    ):
        found.add(SCHEDULER)
    elif name in TRAINERS:
        found.add(TRAINER)
    elif name.startswith("torch.optim.swa_utils."):
        found.add(MODULE)
    elif name in OPTIMIZER_CLASSES or name.startswith(OPTIMIZER_MODULES):
        if last[:1].isupper() or last == "?":
            found.add(OPTIMIZER)
    elif name.startswith("torch.utils.data.") and last.endswith("Sampler"):
        found.add(SAMPLER)
    elif name in LOSSES:
        found |= {MODULE, "loss"}
    elif (
        name.startswith("torch.nn.parallel.")
        or name == "torch.nn.DataParallel"
        or (name.startswith("torch.nn.") and last[:1].isupper() and not _is_no_layer(name))
        or (name.startswith("torch.nn.") and last == "?")
        or (name.startswith(MODULE_MAKERS) and not name.endswith(NO_MODULES))
        or (name.startswith(MODULE_CLASSES) and last[:1].isupper())
        or (name.endswith(PRETRAINED) and _is_model(name))
        or shifts_labels(name)
        or _is_transformer(name)
        or name == "lightning.LightningModule"
    ):
        found.add(MODULE)
    return frozenset(found)


_MODULE_BASE = re.compile(
    r"(?:[\w.]*\.)?\w*PreTrainedModel|transformers\.(?:\w+\.)*\w+(?:Model|For[A-Z]\w+)"
    r"|diffusers\.(?:\w+\.)*(?:ModelMixin|\w+Model)|timm\.(?:models|layers)\.(?:\w+\.)*[A-Z]\w*"
    r"|torchvision\.models\.(?:\w+\.)*[A-Z]\w*"
)
_NO_MODULE_BASE = re.compile(
    r"(?:^|\.)(?:TF|Flax)|DataCollator|Tokenizer|Config$|Weights|Processor|Criteria|For[A-Z]\w*Outputs?$"
)
"""Other names that end in the same way: a `BertForPreTrainingOutput` is the record that such a model gives."""


@lru_cache(_NAMES)
def bases_of_class(name: str) -> frozenset[str]:
    """What instances of a program's class are that inherits from a library's class."""
    found = library_bases(name)
    if name.startswith(NOT_TORCH) or _NO_MODULE_BASE.search(name) or not _MODULE_BASE.fullmatch(name):
        return found
    return found | {MODULE}


_TRANSFORMER = re.compile(r"transformers\.(?:\w+\.)*\w+(?:Model|For[A-Z]\w+)")


def _is_transformer(name: str) -> bool:
    """Whether a class of transformers is a model, which may be made of a configuration alone."""
    return _TRANSFORMER.fullmatch(name) is not None and not _NO_MODULE_BASE.search(name)


_CAUSAL_MODEL = re.compile(
    r"transformers\.(?:\w+\.)*(\w+(?:ForCausalLM|LMHeadModel))(?:\.(?:from_pretrained|from_config|_from_config))?"
)
_NOT_SHIFTING = frozenset(
    f"{name}ForCausalLM"
    for name in "Bart BigBirdPegasus Blenderbot BlenderbotSmall CpmAnt Marian MBart Musicgen MusicgenMelody Mvp Pegasus "
    "PLBart ProphetNet TrOCR Whisper".split()
) | {"XLNetLMHeadModel"}
"""Causal models that compare labels with the outputs at the same position."""


def shifts_labels(name: str) -> bool:
    """Whether a dotted name makes a model of Hugging Face's that shifts its labels by itself."""
    found = _CAUSAL_MODEL.fullmatch(name)
    return found is not None and found[1] not in _NOT_SHIFTING


def _is_model(name: str) -> bool:
    owner = name.split(".")[-2]
    if name.startswith(NOT_TORCH) or (name.startswith("transformers.") and owner.startswith(("TF", "Flax"))):
        return False
    return not any(
        word in owner for word in ("Tokenizer", "Config", "Processor", "Extractor", "Scheduler", "Pipeline")
    )
