from collections.abc import Iterator

from trainlint.facts.api.deprecated import weights_meant
from trainlint.finding import Finding
from trainlint.fix import DropArgument, Proposal, Rewrite, SetArgument, safe, unsafe

_RENAMED = {
    **{
        f"torch.nn.init.{name}": f"torch.nn.init.{name}_"
        for name in "uniform normal constant eye dirac sparse orthogonal xavier_uniform xavier_normal "
        "kaiming_uniform kaiming_normal".split()
    },
    **dict.fromkeys(
        ("torch.nn.utils.clip_grad_norm", "torch.nn.utils.clip_grad.clip_grad_norm"),
        "torch.nn.utils.clip_grad_norm_",
    ),
    "torch.nn.NLLLoss2d": "torch.nn.NLLLoss",
    "torch.nn.functional.upsample": "torch.nn.functional.interpolate",
    "torch.ger": "torch.outer",
    "torch.cuda.memory_cached": "torch.cuda.memory_reserved",
    "torch.cuda.max_memory_cached": "torch.cuda.max_memory_reserved",
    "torch.cuda.reset_max_memory_allocated": "torch.cuda.reset_peak_memory_stats",
    "torch.cuda.reset_max_memory_cached": "torch.cuda.reset_peak_memory_stats",
    **{
        f"functorch.{name}": f"torch.func.{name}"
        for name in "vmap grad grad_and_value vjp jvp jacrev jacfwd hessian functionalize".split()
    },
}
"""Functions that take the same arguments under another name."""

_INTERPOLATE = "torch.nn.functional.interpolate(*_more"
_REWRITTEN = {
    "torch.nn.functional.upsample_nearest": (("_imported(*_more)", f'{_INTERPOLATE}, mode="nearest")'),),
    "torch.nn.functional.upsample_bilinear": (
        ("_imported(*_more)", f'{_INTERPOLATE}, mode="bilinear", align_corners=True)'),
    ),
    "torch.cholesky": (("_imported(_x)", "torch.linalg.cholesky(_x)"),),
    "torch.utils.data.Sampler.__init__": (("super().__init__(_x)", "super().__init__()"),),
    **{
        f"torch.Tensor.{name}": ((f"_x.{name}(_n, _t)", f"_x.{name}(_t, alpha=_n)"),)
        for name in ("add", "add_", "sub", "sub_")
    },
    **{
        f"torch.Tensor.{name}": ((f"_x.{name}(_n, _a, _b)", f"_x.{name}(_a, _b, value=_n)"),)
        for name in ("addcmul", "addcmul_", "addcdiv", "addcdiv_")
    },
}

_ARGUMENTS = {
    "size_average": (("True", 'reduction="mean"'), ("False", 'reduction="sum"')),
}
"""What replaces arguments with these values."""


def fix(finding: Finding) -> Iterator[Proposal]:
    name, argument = finding.clues.get("name"), finding.clues.get("argument")
    if name is None:
        return  # one of several functions is called here
    if name in _RENAMED:
        yield safe(
            f"Call {_RENAMED[name]}",
            Rewrite(finding.at, (("_imported(*_more)", f"{_RENAMED[name]}(*_more)"),)),
        )
    elif name in _REWRITTEN:
        yield safe("Use the current form", Rewrite(finding.at, _REWRITTEN[name]))
    elif name == "torch.meshgrid":
        yield safe('Pass `indexing="ij"`', SetArgument(finding.at, "indexing", '"ij"'))
    elif argument == "verbose":
        yield safe("Remove `verbose`", DropArgument(finding.at, "verbose", "_given"))
    elif argument in _ARGUMENTS:
        for given, instead in _ARGUMENTS[argument]:
            yield _argument(finding, f"{argument}={given}", instead)
    elif argument == "pretrained":
        yield _argument(finding, "pretrained=False", "weights=None")
        if weights := weights_meant(name):
            yield _argument(finding, "pretrained=True", f'weights="{weights}"')
    elif argument == "epoch":
        yield unsafe("Call `step()` without the epoch", Rewrite(finding.at, (("_s.step(_x)", "_s.step()"),)))


def _argument(finding: Finding, old: str, new: str) -> Proposal:
    return safe(
        f"Pass `{new}`",
        Rewrite(finding.at, ((f"_imported(*_more, {old})", f"_imported(*_more, {new})"),)),
    )
