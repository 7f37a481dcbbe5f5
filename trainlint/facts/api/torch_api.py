"""What torch's operations and classes make, keep, cut and expect. Data.

Source: PyTorch's documentation, and measurements on torch 2.13.
"""

from __future__ import annotations

from enum import Enum


class Meaning(Enum):
    """What the numbers of a tensor stand for."""

    LOGITS = "logits"
    PROBABILITIES = "probabilities"
    LOG_PROBABILITIES = "log-probabilities"


NAMESPACES = ("torch.nn.functional.", "torch.Tensor.", "torch.special.", "torch.")
"""Where torch's operations live; the longest first."""

MAKES: dict[str, Meaning] = {
    **dict.fromkeys(("softmax", "softmin", "gumbel_softmax", "sigmoid", "expit"), Meaning.PROBABILITIES),
    **dict.fromkeys(("log_softmax", "logsigmoid"), Meaning.LOG_PROBABILITIES),
    **dict.fromkeys(
        (
            "linear",
            "bilinear",
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_transpose1d",
            "conv_transpose2d",
            "conv_transpose3d",
        ),
        Meaning.LOGITS,
    ),
}
"""Operations whose result has a meaning whatever goes in."""

TURNS: dict[str, dict[Meaning, Meaning]] = {
    "log": {Meaning.PROBABILITIES: Meaning.LOG_PROBABILITIES},
    "exp": {Meaning.LOG_PROBABILITIES: Meaning.PROBABILITIES},
}
"""Operations that turn one meaning into another."""

KEEPS = frozenset(
    "view reshape flatten unflatten permute transpose t T mT squeeze unsqueeze contiguous to cuda cpu float "
    "double half bfloat16 type type_as clone getitem expand expand_as view_as reshape_as detach data identity "
    "narrow select index_select movedim swapaxes swapdims ravel output stack cat concat unbind chunk split "
    "rearrange requires_grad_ retain_grad pin_memory squeeze_ unsqueeze_ Variable as_tensor tensor Tensor "
    "moveaxis hstack vstack gather".split()
)
"""Operations whose result means what their first input means."""

OWN_NAMES = frozenset(
    "alias call data enumerate filter float_number framework getattr getitem grad int_number isinstance items iterate "
    "layers output parameters range scale setitem state_dict values zip".split()
)
"""Operations that no function makes, of torch's or of the program's: they are named for what happens to a value."""

NOT_METHODS = frozenset(
    "Tensor Variable as_tensor bilinear bucketize cat concat conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d einsum empty_like from_numpy full_like gumbel_softmax hstack identity linear logsigmoid one_hot "
    "ones_like output rand_like randint randn_like searchsorted softmin softplus stack tensor topk_indices vstack "
    "zeros_like".split()
)
"""Operations that tensors have no method for: a method of that name is the program's own."""

TENSORS_ALONE = frozenset("item detach cpu backward grad_fn requires_grad".split())
"""Attributes by which programs tell a tensor from a number."""

METRICS = ("torchmetrics.", "lightning.metrics.", "pytorch_lightning.metrics.")
"""Libraries whose metrics run `update` without gradients."""

CLAMPS = frozenset(("clamp", "clip", "clamp_min", "clamp_max", "clamp_"))
"""Keep probabilities what they are, but make a bounded score of a logit."""

CUTS = frozenset(
    "detach detach_ data item numpy tolist tensor from_numpy Variable float_number int_number".split()
)
"""Operations whose result has no gradient path to their input. `Variable` of a Tensor cuts too."""

REBUILDS = frozenset(
    "tensor Tensor FloatTensor DoubleTensor HalfTensor Variable from_numpy as_tensor".split()
)
"""Constructors: the ones not in `CUTS` keep the graph of a tensor, but not of a list of tensors."""

NO_GRADIENT = frozenset(
    "argmax argmin eq ne lt le gt ge == != < <= > >= in is round floor ceil sign long int bool byte short "
    "shape size dim ndim numel dtype device isnan isinf isfinite one_hot topk_indices bincount randint "
    "multinomial bernoulli len zeros_like ones_like rand_like randn_like full_like empty_like "
    "new_zeros new_ones new_tensor new_full new_empty argsort searchsorted bucketize nonzero unique is_floating_point "
    "any all not and or isclose allclose equal state_dict".split()
)
"""Operations through which no gradient flows, by their nature rather than by a mistake."""

WITH_INDICES = frozenset("max min topk sort median mode kthvalue cummax cummin".split())
"""Operations that give values and indices; no gradient flows through the indices."""

CREATES = frozenset(
    "zeros ones rand randn randint full empty arange linspace eye randperm normal tril_indices triu_indices "
    "logspace normal_ manual_seed device".split()
)
"""Operations that make a fresh tensor with no history."""

FRESH = frozenset("zeros ones full empty arange linspace logspace eye rand randn randint randperm".split())
"""Operations that make a tensor on any device that they are told."""

FILLS = (".fill_(…)", ".zero_(…)", ".uniform_(…)", ".random_(…)")
"""How calls of methods end that write numbers into a tensor."""

ADDITIVE = frozenset(("+", "-", "add", "sub", "sum", "mean", "neg"))
"""Operations that keep the terms of a loss apart."""

SCALING = frozenset(("*", "/", "mul", "div"))
"""Operations that only weight a loss when all but one of their inputs are plain numbers."""

LOSSES: dict[str, str] = {
    "torch.nn.CrossEntropyLoss": "cross_entropy",
    "torch.nn.NLLLoss": "nll_loss",
    "torch.nn.NLLLoss2d": "nll_loss",
    "torch.nn.BCELoss": "binary_cross_entropy",
    "torch.nn.BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "torch.nn.KLDivLoss": "kl_div",
    "torch.nn.MSELoss": "mse_loss",
    "torch.nn.L1Loss": "l1_loss",
    "torch.nn.SmoothL1Loss": "smooth_l1_loss",
    "torch.nn.HuberLoss": "huber_loss",
    "torch.nn.MultiMarginLoss": "multi_margin_loss",
    "torch.nn.MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss",
    "torch.nn.MultiLabelMarginLoss": "multilabel_margin_loss",
    "torch.nn.SoftMarginLoss": "soft_margin_loss",
    "torch.nn.PoissonNLLLoss": "poisson_nll_loss",
    "torch.nn.GaussianNLLLoss": "gaussian_nll_loss",
    "torch.nn.CTCLoss": "ctc_loss",
    "torch.nn.CosineEmbeddingLoss": "cosine_embedding_loss",
    "torch.nn.HingeEmbeddingLoss": "hinge_embedding_loss",
    "torch.nn.MarginRankingLoss": "margin_ranking_loss",
    "torch.nn.TripletMarginLoss": "triplet_margin_loss",
    "torch.nn.TripletMarginWithDistanceLoss": "triplet_margin_with_distance_loss",
}
"""Loss classes, and the function that each calls."""

LOSS_FUNCTIONS = frozenset(LOSSES.values())

LOSS_SETTINGS: dict[str, tuple[str, ...]] = {
    "cross_entropy": ("weight", "size_average", "ignore_index", "reduce", "reduction", "label_smoothing"),
    "nll_loss": ("weight", "size_average", "ignore_index", "reduce", "reduction"),
    "binary_cross_entropy": ("weight", "size_average", "reduce", "reduction"),
    "binary_cross_entropy_with_logits": ("weight", "size_average", "reduce", "reduction", "pos_weight"),
    "kl_div": ("size_average", "reduce", "reduction", "log_target"),
}
"""What may follow the input and the target of a loss by position, and comes first where its object is made."""

LAYERS: dict[str, str] = {
    "Linear": "linear",
    "LazyLinear": "linear",
    "Bilinear": "bilinear",
    **{f"{lazy}Conv{n}d": f"conv{n}d" for lazy in ("", "Lazy") for n in (1, 2, 3)},
    **{f"{lazy}ConvTranspose{n}d": f"conv_transpose{n}d" for lazy in ("", "Lazy") for n in (1, 2, 3)},
    "Softmax": "softmax",
    "Softmax2d": "softmax",
    "Softmin": "softmin",
    "LogSoftmax": "log_softmax",
    "Sigmoid": "sigmoid",
    "LogSigmoid": "logsigmoid",
    "Flatten": "flatten",
    "Unflatten": "unflatten",
    "Identity": "identity",
    "Dropout": "dropout",
}
"""Module classes of `torch.nn` that are a known operation."""

SOME_MODULE = "torch.nn.Module?"
SOME_LOSS = "torch.nn.Loss?"
SOME_OPTIMIZER = "torch.optim.Optimizer?"
"""A trained model, what compares its output with targets, and what steps it, where only their use shows what they are."""

WITH_PARAMETERS = frozenset(
    "Module? Linear LazyLinear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d "
    "LazyConv2d LazyConv3d Embedding EmbeddingBag RNN LSTM GRU RNNCell LSTMCell GRUCell BatchNorm1d BatchNorm2d "
    "BatchNorm3d SyncBatchNorm LayerNorm GroupNorm RMSNorm PReLU MultiheadAttention Transformer "
    "TransformerEncoder TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer".split()
)
"""Classes of `torch.nn` that always hold trainable parameters."""

MODE_DEPENDENT = frozenset(
    "Module? Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout BatchNorm1d BatchNorm2d BatchNorm3d "
    "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d "
    "RReLU LSTM GRU RNN MultiheadAttention Transformer TransformerEncoder TransformerDecoder "
    "TransformerEncoderLayer TransformerDecoderLayer".split()
)
"""Classes of `torch.nn` that behave, or can behave, otherwise in training than in evaluation."""

MODE_DEPENDENT_IF = {
    "LSTM": (5, "dropout"),
    "GRU": (5, "dropout"),
    "RNN": (6, "dropout"),
    "MultiheadAttention": (2, "dropout"),
    **{f"InstanceNorm{n}d": (4, "track_running_stats") for n in (1, 2, 3)},
}
"""Those that only do where an argument is given that is off by default: its position and name."""

DROPOUTS = {
    **dict.fromkeys(
        "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split(), (1, "p")
    ),
    "scaled_dot_product_attention": (4, "dropout_p"),
}
"""Functions of `torch.nn.functional` that drop: the position and the name of the share that they drop."""

BATCH_NORMS = frozenset(
    f"torch.nn.{name}" for name in "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm".split()
)

CONTAINERS = frozenset(
    (
        "torch.nn.Sequential",
        "torch.nn.ModuleList",
        "torch.nn.ModuleDict",
        "torch.nn.ParameterList",
        "torch.nn.ParameterDict",
    )
)

IGNORED = -100
"""The label that losses ignore where they are not told another."""

RECURRENT = frozenset(("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"))
"""Layers that read a sequence from its first position to its last, unless they are bidirectional."""

MODULE = "torch.nn.Module"
OPTIMIZER = "torch.optim.Optimizer"
SCHEDULER = "torch.optim.lr_scheduler.LRScheduler"
LOADER = "torch.utils.data.DataLoader"
SAMPLER = "torch.utils.data.Sampler"
SCALER = "torch.amp.GradScaler"
AUTOCAST = "torch.autocast"
PARAMETER = "torch.nn.Parameter"

ALIASES: dict[str, str] = {
    "torch.nn.parameter.Parameter": PARAMETER,
    "torch.utils.data.dataloader.DataLoader": LOADER,
    "torch.utils.data.distributed.DistributedSampler": "torch.utils.data.DistributedSampler",
    "torch_geometric.data.DataLoader": LOADER,
    "torch_geometric.loader.DataLoader": LOADER,
    "torch.GradScaler": SCALER,
    "torch.cuda.amp.GradScaler": SCALER,
    "torch.cuda.amp.grad_scaler.GradScaler": SCALER,
    "torch.cpu.amp.GradScaler": SCALER,
    "torch.amp.grad_scaler.GradScaler": SCALER,
    "torch.optim.optimizer.Optimizer": OPTIMIZER,
    "torch.autograd.Variable": "torch.Variable",
    "torch.autograd.variable.Variable": "torch.Variable",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.nn.modules.module.Module": MODULE,
    "lightning.pytorch.LightningModule": "lightning.LightningModule",
    "pytorch_lightning.LightningModule": "lightning.LightningModule",
    "pytorch_lightning.core.LightningModule": "lightning.LightningModule",
    "lightning.pytorch.core.LightningModule": "lightning.LightningModule",
    "pytorch_lightning.core.lightning.LightningModule": "lightning.LightningModule",
    "lightning.pytorch.core.module.LightningModule": "lightning.LightningModule",
    "pytorch_lightning.core.module.LightningModule": "lightning.LightningModule",
    "transformers.trainer.Trainer": "transformers.Trainer",
}
"""Second names of the same thing."""

AUTOCASTS: dict[str, tuple[str | None, tuple[str, ...]]] = {
    **dict.fromkeys(
        (AUTOCAST, "torch.amp.autocast", "torch.amp.autocast_mode.autocast"),
        (None, ("device_type", "dtype", "enabled")),
    ),
    **{
        f"torch.{device}.amp.{name}": (device, ("enabled", "dtype"))
        for device in ("cuda", "cpu")
        for name in ("autocast", "autocast_mode.autocast")
    },
}
"""Names of autocast: the device that each is for, where its name says it, and its arguments in order."""

SYNONYMS = {
    "~": "not",
    "logical_not": "not",
    "bitwise_not": "not",
    "&": "and",
    "logical_and": "and",
    "bitwise_and": "and",
    "|": "or",
    "logical_or": "or",
    "bitwise_or": "or",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "add": "+",
    "sub": "-",
    "neg": "-",
    "mul": "*",
    "div": "/",
    "matmul": "@",
    "mm": "@",
    "bmm": "@",
}
"""Second names of operations that Python writes with an operator."""

NOTHING_LEFT = -50.0
"""A number this low, in the place of a score or added to it, leaves it no weight."""

SDPA = "scaled_dot_product_attention"

ATTENTION_MASKS: dict[str, dict[str, int]] = {
    SDPA: {"attn_mask": 3},
    "multi_head_attention_forward": {"key_padding_mask": 16, "attn_mask": 18},
    "torch.nn.MultiheadAttention": {"key_padding_mask": 3, "attn_mask": 5},
    "torch.nn.TransformerEncoder": {"mask": 1, "src_key_padding_mask": 2},
    "torch.nn.TransformerEncoderLayer": {"src_mask": 1, "src_key_padding_mask": 2},
    **{
        f"torch.nn.TransformerDecoder{layer}": {
            "tgt_mask": 2,
            "memory_mask": 3,
            "tgt_key_padding_mask": 4,
            "memory_key_padding_mask": 5,
        }
        for layer in ("", "Layer")
    },
    "torch.nn.Transformer": {
        "src_mask": 2,
        "tgt_mask": 3,
        "memory_mask": 4,
        "src_key_padding_mask": 5,
        "tgt_key_padding_mask": 6,
        "memory_key_padding_mask": 7,
    },
}
"""What takes attention masks: the names of its arguments, and their positions. True attends in `SDPA` alone."""

MIXES = frozenset("@ matmul mm bmm einsum baddbmm".split())
"""Operations by which attention's weights mix values, and queries meet keys."""

CAST_TO = {"cuda": "float16", "cpu": "bfloat16", "mps": "float16", "xpu": "float16"}
"""What autocast casts to on each kind of device, where nothing else is asked for."""

CAST_DOWN = frozenset(
    "linear bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d matmul @ mm bmm addmm "
    "addbmm baddbmm einsum scaled_dot_product_attention chain_matmul prelu".split()
)
"""Operations that autocast runs in the lower precision."""

FLOATS = {
    **{f"torch.{name}": name for name in ("float16", "bfloat16", "float32", "float64")},
    "torch.half": "float16",
    "torch.float": "float32",
    "torch.double": "float64",
}
"""Names of floating types."""

CONVERSIONS = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"}
"""Methods of modules and tensors that convert them, and to what."""

SAVES_RESULT = frozenset(
    "sigmoid tanh exp softmax log_softmax sqrt relu torch.nn.ReLU torch.nn.Tanh torch.nn.Sigmoid".split()
)
"""Operations that keep their result for the backward pass."""

LARGEST_HALF = 65504
"""The largest number that float16 holds."""

OPTIMIZER_MODULES = (
    "torch.optim.",
    "torch_optimizer.",
    "bitsandbytes.optim.",
    "apex.optimizers.",
    "transformers.optimization.",
)
OPTIMIZER_CLASSES = frozenset(
    (
        "transformers.AdamW",
        "transformers.Adafactor",
        "timm.optim.create_optimizer",
        "timm.optim.create_optimizer_v2",
    )
)
MODULE_MAKERS = (
    "torchvision.models.",
    "timm.create_model",
    "timm.models.create_model",
    "torch.hub.load",
    "segmentation_models_pytorch.create_model",
    "efficientnet_pytorch.EfficientNet.",
)
"""Libraries' functions and classes, by prefix, whose result is a module."""
NO_MODULES = ("ImageList", "Weights", "WeightsEnum", "list_models", "get_model_weights", "get_weight")
"""Ends of names among them that are something else."""

MODULE_CLASSES = ("segmentation_models_pytorch.", "torch_geometric.nn.")
"""Where libraries keep classes of modules, by prefix; functions stand beside them."""

PRETRAINED = (".from_pretrained", ".from_config")
"""Endings of library constructors that give a module, where the class is a model."""

NOT_TORCH = ("paddle", "tensorflow", "keras", "flax", "jax", "mindspore", "mlx")
"""Beginnings of libraries whose models are no modules of torch's."""

DEPRECATED_AMP: dict[str, str] = {
    **{
        f"torch.{device}.amp.{name}": f'torch.amp.{name}("{device}", …)'
        for device in ("cuda", "cpu")
        for name in ("autocast", "GradScaler")
    },
    "torch.cuda.amp.autocast_mode.autocast": 'torch.amp.autocast("cuda", …)',
    "torch.cuda.amp.grad_scaler.GradScaler": 'torch.amp.GradScaler("cuda", …)',
    "torch.cuda.amp.custom_fwd": 'torch.amp.custom_fwd(device_type="cuda")',
    "torch.cuda.amp.custom_bwd": 'torch.amp.custom_bwd(device_type="cuda")',
}
"""Names deprecated since torch 2.4, and what replaces each."""


DEPRECATED_VARIABLE = frozenset(("torch.autograd.Variable", "torch.autograd.variable.Variable"))
"""Names of what has been a plain tensor since torch 0.4."""

COMPARISONS = frozenset("< <= > >= lt le gt ge".split())
EQUALITIES = frozenset(("==", "eq"))
SOFTMAXES = frozenset(("softmax", "log_softmax", "softmin"))

ASKED_PLAINLY = frozenset("< <= > >= / - data".split())
"""Operators and attributes of tensors that rules look at one by one."""

VIEWS = frozenset(("view", "reshape"))
EMBEDDING = "torch.nn.Embedding"
MAKES_ANOTHER = "from_pretrained"
"""A method of embeddings that leaves its own as it is."""

ASKED = (
    COMPARISONS
    | VIEWS
    | {EMBEDDING}
    | SOFTMAXES
    | ASKED_PLAINLY
    | EQUALITIES
    | frozenset("log log2 log10 sqrt rsqrt reciprocal round div sub masked_fill masked_fill_".split())
)
"""Operations on tensors that rules look at one by one."""

FLAT = frozenset("round floor ceil sign trunc".split())
"""Steps whose gradient is zero wherever it exists."""

STEPS = FLAT | frozenset(
    "argmax argmin argsort eq ne lt le gt ge == != < <= > >= long int short byte bool one_hot bincount isclose".split()
)
"""Operations on tensors whose result changes by leaps."""

UNMISTAKABLE = frozenset(
    "unsqueeze squeeze permute contiguous masked_fill clamp clamp_min clamp_max type_as view_as expand_as "
    "index_select".split()
)
"""Methods that nothing but a tensor has, and that leave it as it is."""

OUT_OF_PLACE = UNMISTAKABLE | frozenset(
    "view reshape flatten transpose expand repeat to cuda cpu float double half bfloat16 long detach clip abs exp "
    "sqrt softmax sigmoid tanh relu log_softmax normalize dropout".split()
)
"""Methods and functions of tensors that leave their input as it is."""

CHECKPOINTS = frozenset(("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"))

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

EMPTY_CACHES = frozenset(f"torch.{name}.empty_cache" for name in ("cuda", "cuda.memory", "mps", "xpu"))
MATMUL_PRECISION = "torch.set_float32_matmul_precision"
PACK = "torch.nn.utils.rnn.pack_padded_sequence"
PAD_PACKED = "torch.nn.utils.rnn.pad_packed_sequence"

TO_HOST = frozenset(("item", "tolist", "numpy", "cpu"))
"""Methods of tensors that hand numbers to Python, or bring them to where Python can read them."""

NOTED = (
    CHECKPOINTS
    | CLOCKS
    | SYNCHRONISES
    | SIZED_BY_DATA
    | frozenset(
        (
            "torch.load",
            "torch.hub.load_state_dict_from_url",
            "torch.utils.model_zoo.load_url",
            "torch.save",
            "torch.where",
            "torch.distributed.init_process_group",
            "torch.set_default_device",
            "torch.set_default_tensor_type",
            "torch.utils.data.random_split",
            "sklearn.model_selection.train_test_split",
            "random.shuffle",
            "numpy.random.shuffle",
            "transformers.DataCollatorForLanguageModeling",
            *EMPTY_CACHES,
            MATMUL_PRECISION,
            PACK,
        )
    )
)
"""Functions of libraries that rules ask about, beside those that seed."""

FITS = frozenset(("fit_transform", "transform"))
"""Methods by which scikit-learn's transformers make data."""

NOTED_METHODS = frozenset(("set_epoch", "fit", "nonzero", "masked_select", "unique", "add_batch", "update"))
"""Methods that rules ask about, whatever they are called on."""
