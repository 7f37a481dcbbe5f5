"""Classes of torch and of other libraries that training is made of, and how they are told. Data."""

from __future__ import annotations

METRICS = ("torchmetrics.", "lightning.metrics.", "pytorch_lightning.metrics.")
"""Libraries whose metrics run `update` without gradients."""


SETTINGS = frozenset(("pydantic.BaseSettings", "pydantic_settings.BaseSettings"))
"""Bases whose fields the environment may set, whatever the constructor is given."""


RECORDS = SETTINGS | {"typing.NamedTuple", "pydantic.BaseModel", "sqlmodel.SQLModel"}
"""Bases that make a class take its annotated attributes as arguments, as dataclasses do."""


RECORD_MAKERS = frozenset(
    "attr.s attr.attrs attr.define attr.frozen attr.mutable attrs.define attrs.frozen attrs.mutable".split()
)
"""Decorators that do the same for a class."""


SOME_MODULE = "torch.nn.Module?"


SOME_LOSS = "torch.nn.Loss?"


SOME_OPTIMIZER = "torch.optim.Optimizer?"
"""A trained model, what compares its output with targets, and what steps it, where only their use shows what they are."""


MODULE = "torch.nn.Module"


OPTIMIZER = "torch.optim.Optimizer"


SCHEDULER = "torch.optim.lr_scheduler.LRScheduler"


LOADER = "torch.utils.data.DataLoader"
DATASET = "torch.utils.data.Dataset"

DETECTORS = "torchvision.models.detection."
"""Models that give losses in training mode, where they need targets, and boxes in evaluation mode. They pick boxes by their
scores, and so wait for the device."""


HEADS = {
    **dict.fromkeys(("resnet", "resnext", "wide_resnet", "shufflenet", "regnet"), "fc"),
    **dict.fromkeys(
        ("vgg", "alexnet", "densenet", "mobilenet", "efficientnet", "convnext", "mnasnet"), "classifier"
    ),
    "swin": "head",
    "vit": "heads",
}
"""The last part of torchvision's classifiers, by how their names begin: what programs replace for their own classes."""


LAST_OF_HEADS = {
    **dict.fromkeys(("vgg", "alexnet"), 6),
    **dict.fromkeys(("mobilenet_v2", "efficientnet", "mnasnet"), 1),
    "mobilenet_v3": 3,
    "convnext": 2,
}
"""The index of the layer in these last parts that gives the scores."""


DEFAULTDICT = "collections.defaultdict"
DICTS = frozenset((DEFAULTDICT, "builtins.dict", "collections.OrderedDict", "collections.UserDict"))
LISTS = frozenset(("builtins.list", "collections.UserList", "collections.deque"))
"""Containers of Python's own that classes inherit from."""


SAMPLER = "torch.utils.data.Sampler"


SCALER = "torch.amp.GradScaler"


AUTOCAST = "torch.autocast"


PARAMETER = "torch.nn.Parameter"


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
