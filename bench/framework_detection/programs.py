"""Programs over frameworks by others, and the bugs that are put into each. Data."""

from __future__ import annotations

from typing import NamedTuple


class Program(NamedTuple):
    """A program: its repository, the file that is changed, the bugs, and words of it that stand in their edits."""

    name: str
    source: str
    file: str
    bugs: tuple[str, ...]
    words: tuple[tuple[str, str], ...] = ()
    run: Run | None = None


class Run(NamedTuple):
    """How it runs here: by itself or by a driver that calls it, with which arguments, and what has to be otherwise.

    Args:
        driver: lines that train what the file defines, imported as `program`; the file itself where there are none.
        adapt: old and new text, without which it would not end or start here.
        beside: files that it imports.
    """

    driver: str = ""
    arguments: str = ""
    adapt: tuple[tuple[str, str], ...] = ()
    beside: tuple[str, ...] = ()


_ACCELERATE = "huggingface+accelerate"
_PEFT = "huggingface+peft"
_LIGHTNING = "Lightning-AI+pytorch-lightning"
_FELIX = "felixdittrich92+DeepLearning-pyTorch"


def _program(name: str, source: str, file: str, bugs: str, **words: str) -> Program:
    return Program(name, source, file, tuple(bugs.split(", ")), tuple(words.items()), _RUNS.get(name))


_FIT = """import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset

import program

torch.manual_seed(0)
BATCHES
model = MODEL
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False)
trainer.fit(model, loader)
"""


def _fit(model: str, *tensors: str, batch: int = 8) -> str:
    """A driver: Lightning's own loop over made-up tensors."""
    data = f"loader = DataLoader(TensorDataset({', '.join(tensors)}), batch_size={batch}, shuffle=True)"
    return _FIT.replace("MODEL", model).replace("BATCHES", data)


_RUNS = {
    "accelerate nlp": Run(arguments="--cpu"),
    "accelerate accumulation": Run(arguments="--cpu --gradient_accumulation_steps 2"),
    "accelerate causal accumulation": Run(arguments="--cpu --gradient_accumulation_steps 2", adapt=(("max_training_samples=500", "max_training_samples=40"),)),
    "accelerate cross validation": Run(arguments="--cpu"),
    "peft prompts": Run(arguments="--model_name_or_path bert --num_virtual_tokens 4 --peft_type p_tuning --encoder_hidden_size 16 --output_dir out"),
    "peft adalora": Run(adapt=(("device = torch.accelerator.current_accelerator().type if hasattr(torch, \"accelerator\") else \"cuda\"", "device = \"cpu\""),)),
    "peft seq2seq": Run(adapt=(("with TorchTracemalloc() as tracemalloc:", "if True:"),)),
    "peft olora": Run(arguments="--batch_size 4 --device_map cpu --dtype float32 --init_lora_weights gaussian --eval_step 2 --save_step 2"),
    "lightning autoencoder": Run(_fit("program.LitAutoEncoder()", "torch.rand(64, 1, 28, 28)", "torch.arange(64) % 10")),
    "lightning classifier": Run(_fit("program.LitClassifier()", "torch.rand(64, 1, 28, 28)", "torch.arange(64) % 10")),
    "lightning language model": Run(arguments=""),
    "lightning GAN": Run(_fit("program.GAN()", "torch.rand(64, 1, 28, 28)", "torch.arange(64) % 10"), adapt=(("def on_train_epoch_end", "def unused"),)),
    "fabric language model": Run(),
    "fabric mnist": Run(),
    "lightning T5": Run(
        _FIT.replace("MODEL", "program.NewsSummaryModel()").replace("BATCHES", "loader = DataLoader(program.data_module.train_dataset, batch_size=8)"),
        adapt=(),
    ),
    "lightning imdb": Run(_FIT.replace("MODEL", "program.ImdbModel()").replace("BATCHES",
        "ids = torch.randint(4, 100, (64, 12))\nmask = (torch.arange(12) < torch.randint(4, 12, (64, 1))).long()\n"
        "rows = [{'input_ids': i * m, 'attention_mask': m, 'label': torch.tensor(k % 2)} for k, (i, m) in enumerate(zip(ids, mask))]\n"
        "loader = DataLoader(rows, batch_size=8)")),
    "race": Run(_FIT.replace("MODEL", "program.BertForRace(train_all=True)").replace("BATCHES",
        "ids = torch.randint(4, 100, (64, 4, 12))\nmask = (torch.arange(12) < torch.randint(4, 12, (64, 4, 1))).long()\n"
        "rows = [{'input_ids': i * m, 'attention_mask': m, 'token_type_ids': m * 0, 'label': torch.tensor(k % 4)} for k, (i, m) in enumerate(zip(ids, mask))]\n"
        "loader = DataLoader(rows, batch_size=8)")),
}  # fmt: skip

PROGRAMS = (
    _program("accelerate nlp", _ACCELERATE, "examples/nlp_example.py",
        "zero_grad, step, rebuilt, eval, no eval, no_grad dropped, scheduler first, zero_grad between, another model, "
        "unprepared loader, padded gather, no mask, lr"),
    _program("accelerate cv", _ACCELERATE, "examples/cv_example.py",
        "softmax, swapped, zero_grad, no eval, no_grad dropped, unprepared loader, padded gather, detached output"),
    _program("accelerate accumulation", _ACCELERATE, "examples/by_feature/gradient_accumulation.py",
        "plain backward, no accumulate, divided twice, counted twice, unprepared optimizer, unprepared loader, zero_grad, backward"),
    _program("accelerate causal accumulation", _ACCELERATE, "examples/by_feature/gradient_accumulation_for_autoregressive_models.py",
        "padding, all ignored, clip after step, zero_grad, eval",
        IGNORED='batch["labels"] = torch.full_like(batch["labels"], -100)'),
    _program("accelerate cross validation", _ACCELERATE, "examples/by_feature/cross_validation.py",
        "zero_grad, detached, eval, no_grad dropped, backward"),
    _program("peft prompts", _PEFT, "examples/sequence_classification/peft_no_lora_accelerate.py",
        "zero_grad, eval, rebuilt, adapters late, no_grad dropped, no mask, step"),
    _program("peft adalora", _PEFT, "examples/conditional_generation/peft_adalora_seq2seq.py",
        "zero_grad, eval, detached, graphs kept, padding, all ignored, adapters late, scheduler moved",
        IGNORED="labels[:] = -100"),
    _program("peft seq2seq", _PEFT, "examples/conditional_generation/peft_lora_seq2seq_accelerate_ds_zero3_offload.py",
        "graphs kept, padding, zero_grad, eval, adapters late, unprepared loader, backward"),
    _program("peft olora", _PEFT, "examples/olora_finetuning/olora_finetuning.py", "shifted, all ignored, trainer lr",
        SHIFTED='result["input_ids"][1:] + [tokenizer.eos_token_id]', IGNORED='result["labels"] = [-100] * len(result["input_ids"])'),
    _program("lightning autoencoder", _LIGHTNING, "examples/pytorch/basics/autoencoder.py",
        "rebuilt, detached, no return, part, steps in automatic, one cycle added", PART="self.decoder"),
    _program("lightning classifier", _LIGHTNING, "examples/pytorch/basics/backbone_image_classifier.py",
        "softmax, softmax layer, swapped, detached output, no return, part, one cycle added", PART="self.backbone.l2"),
    _program("lightning language model", _LIGHTNING, "examples/pytorch/basics/transformer.py",
        "rebuilt, forward under no_grad, steps in automatic, no return, one cycle added"),
    _program("lightning GAN", _LIGHTNING, "examples/pytorch/domain_templates/generative_adversarial_net.py",
        "zero_grad, step, backward, sigmoid layer, generator cut, wrong network, rebuilt"),
    _program("lightning fine-tuning", _LIGHTNING, "examples/pytorch/domain_templates/computer_vision_fine_tuning.py",
        "sigmoid, rebuilt, no return, one cycle"),
    _program("lightning imagenet", _LIGHTNING, "examples/pytorch/domain_templates/imagenet.py",
        "softmax, swapped, detached, one cycle, no return, detached output"),
    _program("lightning segmentation", _LIGHTNING, "examples/pytorch/domain_templates/semantic_segmentation.py",
        "rebuilt, detached output, one cycle"),
    _program("fabric mnist", _LIGHTNING, "examples/fabric/image_classifier/train_fabric.py",
        "zero_grad, step, eval, no eval, no_grad dropped, no log-softmax, plain softmax, swapped, loader not set up"),
    _program("fabric dcgan", _LIGHTNING, "examples/fabric/dcgan/train_fabric.py",
        "zero_grad, generator cut in a loop, no sigmoid, wrong network, rebuilt, step"),
    _program("fabric language model", _LIGHTNING, "examples/fabric/language_model/train.py",
        "zero_grad, clip after step, train dropped, step, backward"),
    _program("fabric folds", _LIGHTNING, "examples/fabric/kfold_cv/train_fabric.py",
        "zero_grad, plain softmax, no eval, eval, zero_grad between, loader not set up"),
    _program("lightning mnist", _FELIX, "PyTorch_Lightning/mnist.py", "softmax, softmax layer, no return"),
    _program("lightning imdb", _FELIX, "PyTorch_Lightning/bert_imdb.py", "softmax, no mask given, rebuilt, no return"),
    _program("lightning T5", _FELIX, "Lightning_learning/T5_summarization.py", "padding, all ignored, eval in a step, steps in automatic",
        IGNORED="labels[:] = -100"),
    _program("lightning denoising", _FELIX, "Lightning_learning/Denoising_CNN.py", "rebuilt, part, no return, one cycle added", PART="self.conv8"),
    _program("race", "iamNCJ+bert-race-pytorch-lightning", "model/BertForRace.py",
        "schedule per epoch, no mask given, rebuilt pair, steps in automatic"),
    _program("speech", "LuluW8071+Conformer", "conformer/asr_trainer.py", "rebuilt, rebuilt pair, no return, eval in a step"),
    _program("graphs", "longlnOff+PyTorch-Lightning-Tutorial-And-GNNs-Tutorial",
        "Chapter6_IntroducingGraphConvolutionalNetworks/Source/ModelModule.py", "softmax, rebuilt, part, no return", PART="self.mlp2"),
    _program("homework", "tsloflza+2025-ADL-Homework", "HW2/tuning.py", "shifted, all ignored",
        SHIFTED='[one[1:] + [tokenizer.eos_token_id] for one in model_inputs["input_ids"]]',
        IGNORED='model_inputs["labels"] = [[-100] * len(one) for one in model_inputs["input_ids"]]'),
    _program("translation", "vhch+Translation-with-pytorch-lightning", "train_sub.py",
        "softmax, zero_grad, plain backward, unshared clip, unprepared optimizer, unprepared loader, eval"),
    _program("segmentation", "luisleo526+medical-segmentation", "train.py", "no accumulate, plain backward, eval, no eval, zero_grad"),
    _program("deepspeed", "VecchioID+nano_deepspeed", "code_examples/01_basic_deepspeed.py", "detached output, step, backward"),
    _program("NLP", "JunHyung1206+NLP-Pytorch-lightning", "Instances/Models/model.py", "rebuilt, detached output, no return"),
)  # fmt: skip
