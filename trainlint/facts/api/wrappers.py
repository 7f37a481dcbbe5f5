"""What stands for a module, and keeps it under a name of its own. Data, measured on torch 2.13."""

from __future__ import annotations

PREFIXES: dict[str, str] = {
    "torch.compile": "_orig_mod.",
    **dict.fromkeys(
        (
            "torch.nn.parallel.DistributedDataParallel",
            "torch.nn.parallel.distributed.DistributedDataParallel",
            "torch.nn.DataParallel",
            "torch.nn.parallel.DataParallel",
        ),
        "module.",
    ),
}
"""What the keys of the state of a wrapper begin with."""

STRIPS = frozenset(("startswith", "removeprefix", "replace", "lstrip", "split", "partition"))
"""Methods of texts by which programs take such a prefix off."""

STRIPS_PREFIX = "torch.nn.modules.utils.consume_prefix_in_state_dict_if_present"
"""The function of torch's that does."""


def is_prefix(text: object) -> bool:
    """Whether a text speaks of such a prefix."""
    return isinstance(text, str) and any(text.rstrip(".") == one.rstrip(".") for one in PREFIXES.values())
