"""What frameworks that own a part of the training loop do in the user's place. Data.

Read from the sources of accelerate 1.15, lightning 2.6.6, transformers 5.23 and torch 2.13, and measured on them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

ACCELERATOR = "accelerate.Accelerator"
FABRIC = "lightning.Fabric"
LIGHTNING = "lightning.LightningModule"
DATA = "lightning.LightningDataModule"
TRAINER = "transformers.Trainer"
RUNNER = "lightning.Trainer"
ENGINE = "deepspeed.DeepSpeedEngine"


class Helper(NamedTuple):
    """What an object does that a program calls from a loop of its own.

    Args:
        counts: it counts batches inside its region of accumulation, divides each loss of its own backward by their
            number, and leaves out the steps of the optimizers that it has prepared until their number is reached.
        steps: where it is told how many batches make a step: the position and name of the argument.
        plugin: an argument that may say the same, and the argument of its class that does.
        precision: the argument that says in which precision it trains.
        elsewhere: arguments that hand backward, step and accumulation to a library of their own.
    """

    counts: bool = False
    steps: tuple[int, str] | None = None
    plugin: tuple[str, int, str] | None = None
    precision: tuple[int, str] | None = None
    elsewhere: tuple[str, ...] = ()


HELPERS: dict[str, Helper] = {
    ACCELERATOR: Helper(
        counts=True,
        steps=(3, "gradient_accumulation_steps"),
        plugin=("gradient_accumulation_plugin", 0, "num_steps"),
        precision=(2, "mixed_precision"),
        elsewhere=("deepspeed_plugin", "deepspeed_plugins", "megatron_lm_plugin"),
    ),
    FABRIC: Helper(),
}
"""Helpers by the dotted name of their class."""

HELPER_NAMES: dict[str, str] = {
    ACCELERATOR: ACCELERATOR,
    "accelerate.accelerator.Accelerator": ACCELERATOR,
    **dict.fromkeys(
        (
            FABRIC,
            "lightning.fabric.Fabric",
            "lightning_fabric.Fabric",
            "lightning.pytorch.Fabric",
            "pytorch_lightning.lite.LightningLite",
        ),
        FABRIC,
    ),
}
"""All names by which they are imported."""

TRAINERS = frozenset(
    f"{package}.{name}"
    for package, names in {
        "transformers": "Trainer trainer.Trainer Seq2SeqTrainer trainer_seq2seq.Seq2SeqTrainer",
        "trl": "SFTTrainer DPOTrainer RewardTrainer KTOTrainer ORPOTrainer CPOTrainer GRPOTrainer",
    }.items()
    for name in names.split()
)
"""Classes that train the model that they are given, and may be given a `compute_loss` of the program's own."""

RUNNERS = frozenset(
    (RUNNER, "lightning.pytorch.Trainer", "pytorch_lightning.Trainer", "lightning.pytorch.trainer.Trainer")
)
"""Classes that train a module of Lightning's by `fit`."""

FORMATS = "formatting_func"
"""The argument of trl's trainers that makes each sample one text, all of which is trained on."""

COLLATES = "data_collator"
"""The argument of such trainers that makes batches of samples."""

TRAINER_WORDS = frozenset(name.rpartition(".")[2] for name in TRAINERS | RUNNERS) | frozenset(
    ("TrainingArguments", "Seq2SeqTrainingArguments", "train_dataset", "Accelerator", "Fabric")
)
"""Names that only code uses that hands training to a framework."""

NOT_COUNTING = re.compile(
    r"transformers\.(?:\w+\.)*(?:(?:Qwen2_5_VL|Qwen2VL|Qwen3VL|Glm4v|Glm46V|PaddleOCR|Gemma4|Molmo2|KimiK25)\w*|\w*Auto"
    r"ModelForImageTextToText|\w*AutoModelForVision2Seq|\w*AutoModelForMultimodalLM)"
)
"""Models that say themselves that they take no number of items for their loss, or may be such."""

_LOSS_MODEL = re.compile(r"transformers\.(?:\w+\.)*\w+(?:For[A-Z]\w+|LMHeadModel)(?:\.\w+)?")


def takes_number_of_items(name: str) -> bool:
    """Whether a model, by the dotted name of what makes it, takes arguments for its loss: since transformers 4.46, a
    `Trainer` then neither divides its loss by the number of batches of a step nor expects anybody else to do so."""
    return _LOSS_MODEL.fullmatch(name) is not None and NOT_COUNTING.match(name) is None


PREPARES = frozenset(
    "prepare setup setup_module setup_optimizers setup_dataloaders prepare_model prepare_optimizer "
    "prepare_data_loader prepare_scheduler".split()
)
"""Methods of helpers that are handed models, optimizers, loaders and schedulers, and give them back."""

PREPARED = ("model", "module", "optimizer", "scheduler")
"""The names of what they are handed, in the order in which it comes back."""

FIRST = ("loss", "tensor", "parameters", "model")
"""The names that the first argument of their other methods has."""

REGIONS = frozenset(("accumulate", "no_sync", "no_backward_sync"))
"""Methods of helpers whose result is a context: inside, gradients may be accumulated."""

ACCUMULATES = "accumulate"
"""The one in which a helper counts batches."""

GATHERS = frozenset(("gather", "gather_for_metrics", "all_gather"))
PADS = "gather"
"""The methods that collect tensors of all ranks, and the one that keeps the samples which fill up the last batch."""

COMPLETE = "sync_gradients"
"""The attribute of a helper that tells whether the gradients of all batches of a step are there."""

AUTOMATIC = "automatic_optimization"
"""The attribute by which a module of Lightning's takes zeroing, backward and stepping into its own hands."""

SHARDS: dict[str, tuple[str, bool] | None] = {
    **dict.fromkeys(
        (
            "torch.distributed.fsdp.fully_shard",
            "torch.distributed._composable.fsdp.fully_shard",
            "torch.distributed._composable.fsdp.fully_shard.fully_shard",
            "torch.distributed.fsdp._fully_shard.fully_shard",
        )
    ),
    **dict.fromkeys(
        (
            "torch.distributed.fsdp.FullyShardedDataParallel",
            "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
        ),
        ("use_orig_params", False),
    ),
}
"""What replaces the parameters of a module by shards of them: always, or unless an argument, with this default, is set.
The latter keep one flat parameter for each module that they wrap."""

ADAPTED = "peft.PeftModel"
ADAPTS = frozenset(f"peft.{module}get_peft_model" for module in ("", "mapping.", "mapping_func."))
"""What puts adapters into a model and freezes all else, and what it gives."""

METHODS: dict[str, dict[str, str]] = {
    LIGHTNING: {
        "training_step": "returns-loss",
        "validation_step": "evaluates",
        "test_step": "evaluates",
        "predict_step": "evaluates",
        "configure_optimizers": "configures",
    },
    TRAINER: {"compute_loss": "returns-loss"},
}
"""Methods that a framework calls itself, and what it does with them: `configures` once, all others for each batch."""

USES = frozenset(("train", "evaluate", "predict"))
"""What a trainer is made for."""

SETS_UP = {LIGHTNING: "setup", DATA: "setup"}
"""Methods that a framework calls before all others."""

TRAINING_LOADER = "train_dataloader"
"""The method that it asks for what it trains on."""

GIVES_LOADER = re.compile(r"(train|val|test|predict)_dataloader$")
"""Methods that it asks for loaders."""

CONFIGURES = frozenset(
    name for methods in METHODS.values() for name, role in methods.items() if role == "configures"
)
"""Those that only say what the framework is to use."""

OWNED = frozenset(name for methods in METHODS.values() for name in methods)
"""The names of all of these."""
