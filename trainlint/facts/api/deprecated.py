"""Functions, methods and arguments of torch's that are deprecated or gone, and what to write in their place. Data.

Each was called on torch 2.13: those that are `gone` raise there, the others warn; a `quiet` one is deprecated by its
documentation alone, or by a warning that Python hides. Source of the versions: PyTorch's release notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from trainlint.facts.api.losses import LOSS_FUNCTIONS, LOSSES
from trainlint.facts.api.torch_names import operation
from trainlint.facts.model.values import Constant, Value
from trainlint.finding import Version

Parameter = tuple[int, str]
"""Position, counted without the receiver, and name of an argument; a position of -1 is never met."""


@dataclass(frozen=True)
class Deprecated:
    """A way of using torch that has been replaced.

    Args:
        instead: what to write: code, or a phrase with code in it.
        since: the version that deprecated it, and that has the replacement.
        gone: the version from which on it raises; None where it only warns.
        given: it is about this argument, where it is given.
        missing: it is about this argument, where it is not given.
        count: it is about calls with so many positional arguments.
        quiet: no warning is raised, or a `DeprecationWarning`, which Python hides outside of the main program.
    """

    instead: str
    since: Version
    gone: Version | None = None
    given: Parameter | None = None
    missing: Parameter | None = None
    count: int | None = None
    quiet: bool = False


_FUNCTIONS: dict[str, Deprecated] = {
    "torch.qr": Deprecated("torch.linalg.qr(A)", (1, 9)),
    "torch.symeig": Deprecated("torch.linalg.eigh(A)", (1, 9), (2, 0)),
    "torch.eig": Deprecated("torch.linalg.eig(A)", (1, 9), (1, 13)),
    "torch.lstsq": Deprecated("torch.linalg.lstsq(A, B)", (1, 9), (1, 13)),
    "torch.solve": Deprecated("torch.linalg.solve(A, B)", (1, 9), (1, 13)),
    "torch.matrix_rank": Deprecated("torch.linalg.matrix_rank(A)", (1, 9), (1, 13)),
    "torch.cholesky": Deprecated("torch.linalg.cholesky(A)", (1, 9)),
    "torch.chain_matmul": Deprecated("torch.linalg.multi_dot([A, B, …])", (1, 9)),
    "torch.lu": Deprecated("torch.linalg.lu_factor(A)", (1, 12)),
    "torch.lu_solve": Deprecated("torch.linalg.lu_solve(LU, pivots, B)", (1, 13)),
    "torch.triangular_solve": Deprecated("torch.linalg.solve_triangular(A, B, upper=…)", (1, 11)),
    "torch.svd": Deprecated("`torch.linalg.svd(A)`, which returns V transposed", (1, 9), quiet=True),
    "torch.ger": Deprecated("torch.outer(a, b)", (1, 8), quiet=True),
    "torch.norm": Deprecated("torch.linalg.vector_norm(x)", (1, 9), quiet=True),
    "torch.range": Deprecated("`torch.arange(start, end)`, which excludes the end", (0, 4)),
    "torch.gesv": Deprecated("torch.linalg.solve(A, B)", (1, 8), (1, 2)),
    "torch.potrf": Deprecated("torch.linalg.cholesky(A)", (1, 8), (1, 2)),
    "torch.trtrs": Deprecated("torch.linalg.solve_triangular(A, B, upper=…)", (1, 11), (1, 2)),
    "torch.btrifact": Deprecated("torch.linalg.lu_factor(A)", (1, 11), (1, 2)),
    "torch.rfft": Deprecated("torch.fft.rfft(x)", (1, 7), (1, 8)),
    "torch.irfft": Deprecated("torch.fft.irfft(x)", (1, 7), (1, 8)),
    "torch.ifft": Deprecated("torch.fft.ifft(x)", (1, 7), (1, 8)),
    "torch.fft": Deprecated("torch.fft.fft(x)", (1, 7), (1, 8)),
    "torch.stft": Deprecated("return_complex=True", (1, 8), (2, 0), missing=(9, "return_complex")),
    "torch.meshgrid": Deprecated('indexing="ij"', (1, 10), missing=(-1, "indexing")),
    "torch.cross": Deprecated("dim=-1", (1, 11), missing=(2, "dim")),
    "torch.set_default_tensor_type": Deprecated(
        "`torch.set_default_dtype` and `torch.set_default_device`", (2, 1)
    ),
    "torch.sparse.FloatTensor": Deprecated("torch.sparse_coo_tensor(indices, values, size)", (2, 0)),
    "torch.nn.functional.upsample": Deprecated("F.interpolate(x, …)", (0, 4)),
    "torch.nn.functional.upsample_nearest": Deprecated('F.interpolate(x, …, mode="nearest")', (0, 4)),
    "torch.nn.functional.upsample_bilinear": Deprecated(
        'F.interpolate(x, …, mode="bilinear", align_corners=True)', (0, 4)
    ),
    **{
        f"torch.nn.init.{name}": Deprecated(f"nn.init.{name}_(…)", (0, 4))
        for name in "uniform normal constant eye dirac sparse orthogonal xavier_uniform xavier_normal "
        "kaiming_uniform kaiming_normal".split()
    },
    "torch.nn.NLLLoss2d": Deprecated("nn.NLLLoss()", (0, 4)),
    "torch.nn.Container": Deprecated("nn.Module", (0, 4)),
    "torch.nn.utils.clip_grad_norm": Deprecated("nn.utils.clip_grad_norm_(parameters, max_norm)", (0, 4)),
    "torch.nn.utils.clip_grad.clip_grad_norm": Deprecated(
        "nn.utils.clip_grad_norm_(parameters, max_norm)", (0, 4)
    ),
    "torch.nn.utils.weight_norm": Deprecated("nn.utils.parametrizations.weight_norm(module)", (2, 1)),
    "torch.nn.utils.stateless.functional_call": Deprecated("torch.func.functional_call(…)", (2, 0)),
    "torch.testing.assert_allclose": Deprecated("torch.testing.assert_close(…)", (1, 12)),
    "torch.backends.cuda.sdp_kernel": Deprecated("torch.nn.attention.sdpa_kernel([…])", (2, 3)),
    "torch.cuda.memory_cached": Deprecated("torch.cuda.memory_reserved()", (1, 4)),
    "torch.cuda.max_memory_cached": Deprecated("torch.cuda.max_memory_reserved()", (1, 4)),
    "torch.cuda.reset_max_memory_allocated": Deprecated("torch.cuda.reset_peak_memory_stats()", (1, 4)),
    "torch.cuda.reset_max_memory_cached": Deprecated("torch.cuda.reset_peak_memory_stats()", (1, 4)),
    "torch.profiler.profile": Deprecated(
        "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]", (1, 9), given=(-1, "use_cuda")
    ),
    **{
        f"torch.{verb}_autocast_{device}_{what}": Deprecated(
            f'torch.{verb}_autocast_{what}("{name}"{", …" if verb == "set" else ""})', (2, 4), quiet=True
        )
        for device, name in (("gpu", "cuda"), ("cpu", "cpu"))
        for verb, what in (("get", "dtype"), ("set", "dtype"), ("is", "enabled"), ("set", "enabled"))
        if (device, what) != ("gpu", "enabled")
    },
    **{
        f"functorch.{name}": Deprecated(f"torch.func.{name}(…)", (2, 0))
        for name in "vmap grad grad_and_value vjp jvp jacrev jacfwd hessian functionalize".split()
    },
    **{
        f"functorch.{name}": Deprecated("torch.func.functional_call(module, parameters, …)", (2, 0))
        for name in ("make_functional", "make_functional_with_buffers")
    },
    "functorch.combine_state_for_ensemble": Deprecated("torch.func.stack_module_state(…)", (2, 0)),
    "torch.utils.data.Sampler.__init__": Deprecated(
        "super().__init__()", (2, 1), (2, 10), given=(0, "data_source")
    ),
    "torch.optim.lr_scheduler.LRScheduler.get_lr": Deprecated("scheduler.get_last_lr()", (1, 4)),
    "torch.optim.lr_scheduler.LRScheduler.step": Deprecated("scheduler.step()", (1, 4), given=(0, "epoch")),
}

_METHODS: dict[str, Deprecated] = {
    **{
        name: _FUNCTIONS[f"torch.{name}"]
        for name in "qr symeig eig lstsq solve cholesky lu lu_solve triangular_solve svd ger".split()
    },
    "stft": replace(_FUNCTIONS["torch.stft"], missing=(8, "return_complex")),
    **{
        f"{name}{end}": Deprecated(f"{name}{end}(tensor, alpha=number)", (1, 5), count=2)
        for name in ("add", "sub")
        for end in ("", "_")
    },
    **{
        f"{name}{end}": Deprecated(f"{name}{end}(tensor1, tensor2, value=number)", (1, 5), count=3)
        for name in ("addcmul", "addcdiv")
        for end in ("", "_")
    },
}

UNMISTAKABLE = frozenset("symeig add_ sub_ addcmul addcmul_ addcdiv addcdiv_".split())
"""Methods that, called with so many arguments, nothing but a tensor has."""

_COMMON = frozenset(
    "range norm normal uniform constant eye sparse solve eig qr lu svd ger fft cross profile step grad hessian Container "
    "FloatTensor __init__ cholesky orthogonal".split()
)
TELLING = (frozenset(name.rpartition(".")[2] for name in _FUNCTIONS) - _COMMON) | {
    "symeig",
    "addcmul_",
    "addcdiv_",
}
"""Names that hardly anything but the old functions and methods has."""

OLD_INITS = frozenset(name.rpartition(".")[2] for name in _FUNCTIONS if name.startswith("torch.nn.init."))
"""Functions of `torch.nn.init` that end in an underscore now."""

_OF_LOSSES = tuple(
    Deprecated('`reduction="mean"`, `"sum"` or `"none"`', (0, 4, 1), given=(-1, name))
    for name in ("size_average", "reduce")
)
_OF_SCHEDULERS = (
    Deprecated(
        "`print(scheduler.get_last_lr())` to print the learning rate",
        (2, 2),
        (2, 7),
        given=(-1, "verbose"),
    ),
)
_OF_PICTURES = Deprecated("weights=…", (1, 12), given=(-1, "pretrained"))
"""Of torchvision 0.13 and later, which go with torch 1.12 and later."""

_WEIGHTS = {
    "torchvision.models.detection.": "COCO_V1",
    "torchvision.models.segmentation.": "COCO_WITH_VOC_LABELS_V1",
    "torchvision.models.video.": "KINETICS400_V1",
    "torchvision.models.quantization.": None,
    "torchvision.models.optical_flow.raft_large": "C_T_SKHT_V2",
    "torchvision.models.optical_flow.": "C_T_V2",
    "torchvision.models.": "IMAGENET1K_V1",
}
"""What `pretrained=True` has always loaded; None where that depends on more. `DEFAULT` may be newer ones."""

FIRST_OF_ONE = Deprecated("loss.item()", (0, 4), (0, 5))
"""`loss.data[0]`, of a tensor without an axis."""

GONE_WITH = {"torch.nn.utils.weight_norm": ("weight_g", "weight_v", "remove_weight_norm")}
"""Attributes and functions that do not go with what is written instead: where a program reads them, it cannot be replaced as
it is. `remove_weight_norm` raises for a parametrization."""

SCHEDULERS = "torch.optim.lr_scheduler."
WITH_EPOCH = frozenset(f"{SCHEDULERS}{name}" for name in ("CosineAnnealingWarmRestarts", "ReduceLROnPlateau"))
"""Schedulers whose `step` takes something by right."""


def of_function(
    name: str, args: tuple[Value, ...], options: Mapping[str, Value], *, is_open: bool
) -> Deprecated | None:
    """What is deprecated about a call of a function or class of torch's; None if nothing is."""
    found = next((one for one in _about(name) if _applies(one, args, options, is_open=is_open)), None)
    return None if found is None else replace(found, instead=_meant(name, found, options))


def weights_meant(name: str) -> str | None:
    """The weights that a function of torchvision loads with `pretrained=True`; None where that cannot be told."""
    return next((weights for start, weights in _WEIGHTS.items() if name.startswith(start)), None)


def _meant(name: str, found: Deprecated, options: Mapping[str, Value]) -> str:
    """What to write in place of this very argument, where its value is known."""
    given = {
        key: one.value for key, one in options.items() if isinstance(one, Constant) and not one.is_default
    }
    match found.given:
        case (_, "pretrained"):
            weights = weights_meant(name)
            shown = "weights=…" if weights is None else f'weights="{weights}"'
            if given.get("pretrained") is False:
                return "weights=None"
            return shown if given.get("pretrained") is True else f"`{shown}`, or `weights=None`"
        case (_, "size_average" | "reduce") if options.keys() & {"size_average", "reduce"} <= given.keys():
            if given.get("reduce") is False:
                return 'reduction="none"'
            return 'reduction="sum"' if given.get("size_average") is False else 'reduction="mean"'
    return found.instead


def of_method(
    name: str, args: tuple[Value, ...], options: Mapping[str, Value], *, is_open: bool
) -> Deprecated | None:
    """The same for a method, if it is one of a tensor's."""
    known = _METHODS.get(name)
    return known if known is not None and _applies(known, args, options, is_open=is_open) else None


def _about(name: str) -> Iterator[Deprecated]:
    if name in _FUNCTIONS:
        yield _FUNCTIONS[name]
    elif name in LOSSES or (name.startswith("torch.nn.functional.") and operation(name) in LOSS_FUNCTIONS):
        yield from _OF_LOSSES
    elif name.startswith(SCHEDULERS):
        yield from _OF_SCHEDULERS
    elif name.startswith("torchvision.models."):
        yield _OF_PICTURES


def _applies(
    one: Deprecated, args: tuple[Value, ...], options: Mapping[str, Value], *, is_open: bool
) -> bool:
    if one.given is not None:
        position, name = one.given
        value = options.get(name) or (args[position] if 0 <= position < len(args) else None)
        return value is not None and not (isinstance(value, Constant) and value.value is None)
    if one.missing is not None:
        position, name = one.missing
        return not is_open and name not in options and not 0 <= position < len(args)
    return one.count is None or (len(args) == one.count and not is_open)
