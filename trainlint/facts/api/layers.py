"""torch's layers: which operation each is, and which have parameters or depend on the mode. Data.

Source: PyTorch's documentation, and measurements on torch 2.13.
"""

from __future__ import annotations

import re

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


WITH_PARAMETERS = frozenset(
    "Module? Linear LazyLinear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d "
    "LazyConv2d LazyConv3d Embedding EmbeddingBag RNN LSTM GRU RNNCell LSTMCell GRUCell BatchNorm1d BatchNorm2d "
    "BatchNorm3d SyncBatchNorm LayerNorm GroupNorm RMSNorm PReLU MultiheadAttention Transformer "
    "TransformerEncoder TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer".split()
)
"""Classes of `torch.nn` that hold trainable parameters."""


WITHOUT_PARAMETERS_IF = {
    **dict.fromkeys("BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm GroupNorm".split(), (3, "affine")),
    **dict.fromkeys("LayerNorm RMSNorm".split(), (2, "elementwise_affine")),
}
"""Those that hold none where an argument is given that is off: its position and name."""


COPY_A_LAYER = {
    "torch.nn.TransformerEncoder": "encoder_layer",
    "torch.nn.TransformerDecoder": "decoder_layer",
}
"""Modules of torch's that copy the layer that is their first argument, by that argument's name."""


OF_GRAPHS_ALONE = frozenset(
    "APPNP LGConv LabelPropagation SimpleConv CorrectAndSmooth PairNorm GraphSizeNorm MeanSubtractionNorm SumAggregation "
    "MeanAggregation MaxAggregation".split()
)
"""Classes of `torch_geometric.nn` that hold no parameters."""


MEASURES = tuple(
    f"segmentation_models_pytorch.{one}." for one in ("losses", "metrics", "utils.losses", "utils.metrics")
)
"""Where libraries keep modules that say how good outputs are, and have nothing to learn, by prefix."""


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


MODE_DEPENDENT_UNLESS = {
    **dict.fromkeys(
        "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout".split(), (0, "p")
    ),
    **{f"BatchNorm{n}d": (4, "track_running_stats") for n in (1, 2, 3)},
    **{f"Transformer{half}coderLayer": (3, "dropout") for half in ("En", "De")},
    "Transformer": (5, "dropout"),
}
"""Those that only do not where an argument that is on by default is 0 or False: its position and name."""


GRAPH_LAYERS: dict[str, int | None] = {
    **dict.fromkeys(
        "SimpleConv GCNConv ChebConv SAGEConv GraphConv GatedGraphConv ResGatedGraphConv AGNNConv TAGConv GINConv GINEConv "
        "SGConv SSGConv RGCNConv FastRGCNConv SignedConv PointNetConv GMMConv SplineConv NNConv ECConv EdgeConv "
        "DynamicEdgeConv PPFConv FeaStConv LEConv ClusterGCNConv GCN2Conv FiLMConv EGConv LGConv MFConv TopKPooling "
        "GraphNorm PairNorm GraphSizeNorm MessageNorm LayerNorm".split()
    ),
    **dict.fromkeys("GATConv GATv2Conv SuperGATConv TransformerConv".split(), 5),
    "DNAConv": 3,
    "FAConv": 2,
    "APPNP": 2,
    "ARMAConv": 6,
    "HypergraphConv": 7,
}
"""Layers of `torch_geometric.nn` that do the same in both modes, unless a network that they are given does not, or they are
given a dropout, which is off by default: where that argument stands."""


DROPOUTS = {
    **dict.fromkeys(
        "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split(), (1, "p")
    ),
    "scaled_dot_product_attention": (4, "dropout_p"),
}
"""Functions of `torch.nn.functional` that drop: the position and the name of the share that they drop."""


STATELESS: dict[str, int | None] = {
    f"torch.nn.{name}": position
    for position, names in (
        (0, "ReLU ReLU6 SELU SiLU Mish Hardswish Hardsigmoid"),
        (1, "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout LeakyReLU ELU"),
        (
            None,
            "GELU Softplus Tanh Sigmoid LogSigmoid Softmax LogSoftmax Flatten Unflatten MaxPool1d MaxPool2d",
        ),
        (
            None,
            "AvgPool1d AvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool2d LayerNorm Upsample",
        ),
    )
    for name in names.split()
}
"""Layers that only return something: they keep no statistics. They leave their input as it is, but for those that have an
argument `inplace`: its position."""


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


RECURRENT = frozenset(("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"))
"""Layers that read a sequence from its first position to its last, unless they are bidirectional."""


EMBEDDING = "torch.nn.Embedding"


MAKES_ANOTHER = {
    "from_pretrained": (EMBEDDING, "transformers."),
    "load_from_checkpoint": ("lightning.LightningModule",),
}
"""Class methods that leave the module as it is that they are called on, and what the names of its classes begin with."""
_CALLED_DROPOUT = re.compile(r"(?:^|\.)(?:(?:\w+_)?dropout\d*|(?:attn|attention|resid|proj)_drop)\(…\)$")


def is_called_dropout(text: str) -> bool:
    """Whether a call is of what the program calls dropout: `self.dropout(x)`."""
    return _CALLED_DROPOUT.search(text) is not None
