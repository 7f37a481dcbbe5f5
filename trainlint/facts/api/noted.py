"""Functions and methods of libraries whose calls rules ask about. Data."""

from __future__ import annotations

from trainlint.facts.api.gradients import CHECKPOINTS
from trainlint.facts.api.wrappers import STRIPS_PREFIX

CLOCKS = frozenset(
    (
        *(f"time.{name}{unit}" for name in ("time", "perf_counter", "monotonic") for unit in ("", "_ns")),
        "timeit.default_timer",
    )
)
"""Functions that read the clock of the host."""


SYNCHRONISES = frozenset(
    ("torch.cuda.synchronize", "torch.accelerator.synchronize", "torch.cuda.current_stream")
)
"""Functions that wait for the device, or give what a program waits with."""


SIZED_BY_DATA = frozenset(
    "torch.nonzero torch.argwhere torch.masked_select torch.unique torch.unique_consecutive torchvision.ops.nms "
    "torchvision.ops.batched_nms torchvision.ops.boxes.nms torchvision.ops.boxes.batched_nms".split()
)
"""Functions that wait for the device, because the size of what they give depends on what is in a tensor."""


LOGS_NUMBERS = frozenset(("wandb.log", "add_scalar", "add_scalars"))
"""Functions and methods that turn each tensor into a number at once, so that they wait for the device."""


SAVES = frozenset(("torch.save", "safetensors.torch.save_file"))
"""Functions that write what they are given first into a file."""


METRICS = "sklearn.metrics."
"""Functions that are given what is right and what was predicted."""


STARTS_NOTHING = frozenset(
    "items keys values set_description set_description_str set_postfix set_postfix_str inverse_transform "
    "update_parameters".split()
)
"""Methods that list what is there, write beside a progress bar, undo a scaling, or let an average follow a model: whatever has
them, they train nothing that they are given."""


EMPTY_CACHES = frozenset(f"torch.{name}.empty_cache" for name in ("cuda", "cuda.memory", "mps", "xpu"))


COLLECTIVES = frozenset(
    f"torch.distributed.{name}"
    for name in "all_reduce all_gather all_gather_object all_gather_into_tensor barrier broadcast broadcast_object_list "
    "reduce reduce_scatter reduce_scatter_tensor gather gather_object scatter scatter_object_list all_to_all".split()
)
"""Functions that return once all ranks have called them."""


MATMUL_PRECISION = "torch.set_float32_matmul_precision"


PACK = "torch.nn.utils.rnn.pack_padded_sequence"


PAD_PACKED = "torch.nn.utils.rnn.pad_packed_sequence"


ADDS_HOOKS = (
    "torch.compile",
    "torch.nn.utils.prune.",
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.weight_norm",
    "torch.quantization.",
    "torch.ao.quantization.",
)
"""How the names of functions begin that make something of a module which only its call does, and not its `forward`."""


KEEPS_BY_HOOKS = frozenset(("register_forward_hook", "register_forward_pre_hook"))
"""Methods of modules that register what sees the tensors of a forward pass, and may keep them."""


REGISTERS_HOOKS = KEEPS_BY_HOOKS | frozenset(
    (
        "register_full_backward_hook",
        "register_full_backward_pre_hook",
        "register_backward_hook",
    )
)
"""Methods of modules that register a hook, which `forward` alone does not run."""


NOTED = (
    CHECKPOINTS
    | CLOCKS
    | SYNCHRONISES
    | SIZED_BY_DATA
    | COLLECTIVES
    | LOGS_NUMBERS
    | frozenset(
        (
            "torch.load",
            "torch.hub.load_state_dict_from_url",
            "torch.utils.model_zoo.load_url",
            *SAVES,
            "torch.where",
            "torch.distributed.init_process_group",
            "torch.set_default_device",
            "torch.set_default_tensor_type",
            "torch.utils.data.random_split",
            "sklearn.model_selection.train_test_split",
            "torch.randperm",
            "numpy.random.permutation",
            "random.shuffle",
            "numpy.random.shuffle",
            "transformers.DataCollatorForLanguageModeling",
            *EMPTY_CACHES,
            MATMUL_PRECISION,
            PACK,
            STRIPS_PREFIX,
        )
    )
)
"""Functions of libraries that rules ask about, beside those that seed."""


FITS = frozenset(("fit_transform", "transform"))
"""Methods by which scikit-learn's transformers make data."""


RECOMPUTES = frozenset(("gradient_checkpointing_enable", "activation_checkpointing_enable"))
"""Methods of transformers' models that switch checkpointing on: both names are of the same thing."""


MENDS_INPUTS = KEEPS_BY_HOOKS | {"enable_input_require_grads"}
"""Methods by which a program makes the inputs of frozen layers require a gradient, or may do so."""


CHANGES_ADAPTERS = frozenset(
    "set_adapter add_adapter load_adapter add_weighted_adapter set_requires_grad merge_and_unload unload".split()
)
"""Methods of peft's models after which other parameters may require a gradient."""


MAKES_MASK = "generate_square_subsequent_mask"
"""Method of `nn.Transformer` that uses none of its weights."""


NOTED_METHODS = (
    LOGS_NUMBERS
    | frozenset(
        (
            "set_epoch",
            "all_gather",
            "fit",
            "nonzero",
            "masked_select",
            "unique",
            "add_batch",
            "update",
            MAKES_MASK,
        )
    )
    | RECOMPUTES
    | MENDS_INPUTS
    | CHANGES_ADAPTERS
    | REGISTERS_HOOKS
)
"""Methods that rules ask about, whatever they are called on."""
