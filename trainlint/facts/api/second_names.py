"""Names that mean the same thing as others: second ones, and old ones. Data."""

from __future__ import annotations

from trainlint.facts.api.classes import AUTOCAST, LOADER, MODULE, OPTIMIZER, PARAMETER, SCALER

NAMESPACES = ("torch.nn.functional.", "torch.Tensor.", "torch.special.", "torch.")
"""Where torch's operations live; the longest first."""


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
    "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler": SCALER,
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
    **dict.fromkeys(
        (
            "lightning.pytorch.LightningDataModule",
            "lightning.pytorch.core.LightningDataModule",
            "pytorch_lightning.LightningDataModule",
            "pytorch_lightning.core.LightningDataModule",
            "pytorch_lightning.core.datamodule.LightningDataModule",
        ),
        "lightning.LightningDataModule",
    ),
    "transformers.trainer.Trainer": "transformers.Trainer",
    "einops.einops.rearrange": "einops.rearrange",
    "einops.einops.einsum": "einops.einsum",
}
"""Second names of the same thing."""


INNER_MODULES: dict[str, str] = {
    f"{package}.{inner}": package
    for package, names in {
        "torch.amp": "autocast_mode grad_scaler",
        "torch.autograd": "anomaly_mode function grad_mode gradcheck",
        "torch.cuda.amp": "autocast_mode common",
        "torch.distributed": "device_mesh distributed_c10d",
        "torch.distributed.fsdp": "api fully_sharded_data_parallel",
        "torch.distributions": "bernoulli beta binomial categorical dirichlet distribution gumbel independent kl "
        "laplace log_normal mixture_same_family multinomial multivariate_normal normal one_hot_categorical poisson "
        "relaxed_bernoulli relaxed_categorical transformed_distribution transforms uniform",
        "torch.nn": "parameter",
        "torch.nn.parallel": "parallel_apply replicate scatter_gather",
        "torch.nn.utils": "clip_grad convert_parameters fusion memory_format",
        "torch.optim": "adadelta adagrad adam adamax adamw asgd lbfgs nadam radam rmsprop rprop sgd sparse_adam",
        "torch.utils.data": "dataloader distributed",
        "torchvision.datasets": "cifar coco fakedata flickr folder imagenet mnist svhn voc",
        "torchvision.models": "alexnet convnext densenet efficientnet googlenet inception mnasnet mobilenet "
        "mobilenetv2 mobilenetv3 regnet resnet shufflenetv2 squeezenet swin_transformer vgg vision_transformer",
        "torchvision.transforms": "transforms",
    }.items()
    for inner in names.split()
}
"""Modules whose names their package gives too, under which they are documented: `torch.optim.adam` of `torch.optim`."""


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
