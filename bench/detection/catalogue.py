"""The programs that bugs are put into: where they are, how they are run, what they find in place of downloads."""

from __future__ import annotations

import pickle
import random
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from edits import Edit


@dataclass(frozen=True)
class Program:
    """A training program.

    Args:
        source: folder of a clone that is copied, under the folder of all clones; none for programs of our own.
        keep: the files and folders of it that the program needs; all of them if empty.
        script: what is run, seen from the copied folder.
        driver: a file of `programs/` that is copied beside, where the clone has no script that runs by itself.
        adapt: changes without which it would not run here.
        data: writes what the program expects to find.
    """

    name: str
    script: str
    source: str = ""
    keep: tuple[str, ...] = ()
    arguments: str = ""
    driver: str = ""
    adapt: tuple[Edit, ...] = ()
    data: Callable[[Path], None] | None = None


def _waves(folder: Path) -> None:
    import numpy
    import torch

    steps = numpy.arange(24) + numpy.arange(10)[:, None] * 3
    torch.save(numpy.sin(steps / 4.0), folder / "traindata.pt")


def _pictures(folder: Path) -> None:
    for split in ("train", "test"):
        where = folder / "dataset/BSDS300/images" / split
        where.mkdir(parents=True)
        for number in range(8):
            (where / f"{number}.png").touch()


def _characters(folder: Path) -> None:
    import numpy

    where = folder / "data/tiny"
    where.mkdir(parents=True)
    text = (numpy.arange(4000) * 7 + numpy.arange(4000) // 11) % 65
    text.astype(numpy.uint16).tofile(where / "train.bin")
    text[:1000].astype(numpy.uint16).tofile(where / "val.bin")
    (where / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 65}))


def _reviews(folder: Path) -> None:
    where = folder / "rt-polaritydata"
    where.mkdir()
    draw = random.Random(0)
    for kind, shift in (("pos", 0), ("neg", 20)):
        lines = (
            " ".join(f"w{chr(97 + draw.randrange(20) + shift // 10)}" for _ in range(9)) for _ in range(200)
        )
        (where / f"rt-polarity.{kind}").write_text("\n".join(lines))


def _translations(folder: Path) -> None:
    draw = random.Random(0)
    words = ["<blank>", "<unk>", "<s>", "</s>", *map(str, range(40))]
    vocabulary = OrderedDict((word, number) for number, word in enumerate(words))
    vocabulary.stoi = dict(vocabulary)  # type: ignore[attr-defined]
    field = SimpleNamespace(vocab=vocabulary)

    def sentence() -> list[str]:
        return ["<s>", *(str(draw.randrange(40)) for _ in range(draw.randrange(4, 12))), "</s>"]

    examples = [SimpleNamespace(src=sentence(), trg=sentence()) for _ in range(48)]
    data = {
        "settings": SimpleNamespace(max_len=30),
        "vocab": {"src": field, "trg": field},
        "train": examples[:40],
        "valid": examples[40:],
    }
    (folder / "data.pkl").write_bytes(pickle.dumps(data))


_EXAMPLES = "pytorch+examples"
_GAN = "eriklindernoren+PyTorch-GAN/implementations"
_CLEANRL = "vwxyzjn+cleanrl"
_YUNJEY = "yunjey+pytorch-tutorial/tutorials"

PROGRAMS = (
    Program("mnist", "main.py", f"{_EXAMPLES}/mnist", arguments="--epochs 2 --batch-size 32"),
    Program("mnist_rnn", "main.py", f"{_EXAMPLES}/mnist_rnn", arguments="--epochs 2 --batch-size 32"),
    Program("mnist_forward_forward", "main.py", f"{_EXAMPLES}/mnist_forward_forward", arguments="--epochs 3"),
    Program("vae", "main.py", f"{_EXAMPLES}/vae", arguments="--epochs 2 --batch-size 32"),
    Program(
        "dcgan",
        "main.py",
        f"{_EXAMPLES}/dcgan",
        arguments="--dataset fake --workers 0 --batchSize 8 --ngf 8 --ndf 8 --niter 1 --manualSeed 1",
    ),
    Program(
        "siamese_network", "main.py", f"{_EXAMPLES}/siamese_network", arguments="--epochs 2 --batch-size 32"
    ),
    Program(
        "super_resolution",
        "main.py",
        f"{_EXAMPLES}/super_resolution",
        arguments="--upscale_factor 3 --threads 0 --batchSize 4",
        data=_pictures,
    ),
    Program(
        "time_sequence_prediction",
        "train.py",
        f"{_EXAMPLES}/time_sequence_prediction",
        arguments="--steps 2",
        adapt=(
            Edit("train.py", "torch.load('traindata.pt')", "torch.load('traindata.pt', weights_only=False)"),
        ),
        data=_waves,
    ),
    Program("regression", "main.py", f"{_EXAMPLES}/regression"),
    Program("gcn", "main.py", f"{_EXAMPLES}/gcn", arguments="--epochs 3"),
    Program("gat", "main.py", f"{_EXAMPLES}/gat", arguments="--epochs 3 --num-heads 1 --hidden-dim 8"),
    Program("reinforce", "reinforce.py", f"{_EXAMPLES}/reinforcement_learning", keep=("reinforce.py",)),
    Program(
        "actor_critic", "actor_critic.py", f"{_EXAMPLES}/reinforcement_learning", keep=("actor_critic.py",)
    ),
    Program(
        "language_translation",
        "main.py",
        f"{_EXAMPLES}/language_translation",
        arguments="--epochs 2 --batch 8 --embed_size 32 --attn_heads 2 --enc_layers 2 --dec_layers 2 "
        "--dim_feedforward 64 --logging_dir log/",
    ),
    Program(
        "nanoGPT",
        "train.py",
        "karpathy+nanoGPT",
        keep=("train.py", "model.py", "configurator.py"),
        arguments="--device=cpu --compile=False --dtype=float32 --dataset=tiny --n_layer=2 --n_head=2 --n_embd=32 "
        "--block_size=16 --batch_size=4 --eval_iters=1 --max_iters=3 --gradient_accumulation_steps=2",
        data=_characters,
    ),
    Program(
        "minGPT",
        "projects/adder/adder.py",
        "karpathy+minGPT",
        keep=("mingpt", "projects/adder"),
        arguments="--data.ndigit=1 --trainer.num_workers=0 --trainer.max_iters=4 --trainer.batch_size=16",
    ),
    Program("gan", "gan.py", f"{_GAN}/gan", arguments="--n_epochs 1 --batch_size 32"),
    Program("wgan_gp", "wgan_gp.py", f"{_GAN}/wgan_gp", arguments="--n_epochs 1 --batch_size 32"),
    Program(
        "cleanrl dqn",
        "cleanrl/dqn.py",
        _CLEANRL,
        keep=("cleanrl/dqn.py", "cleanrl_utils/buffers.py", "cleanrl_utils/__init__.py"),
        arguments="--learning-starts 50 --total-timesteps 200 --batch-size 16",
    ),
    Program(
        "cleanrl ppo",
        "cleanrl/ppo.py",
        _CLEANRL,
        keep=("cleanrl/ppo.py",),
        arguments="--num-steps 16 --total-timesteps 256",
    ),
    Program(
        "cleanrl ddpg",
        "cleanrl/ddpg_continuous_action.py",
        _CLEANRL,
        keep=("cleanrl/ddpg_continuous_action.py", "cleanrl_utils/buffers.py", "cleanrl_utils/__init__.py"),
        arguments="--env-id Pendulum-v1 --learning-starts 40 --total-timesteps 120 --batch-size 16 --buffer-size 1000",
    ),
    Program(
        "cnn-text-classification",
        "main.py",
        "Shawn1993+cnn-text-classification-pytorch",
        arguments="-epochs 2 -embed-dim 16 -kernel-num 8",
        data=_reviews,
    ),
    Program(
        "pytorch-cifar100",
        "train.py",
        "weiaicunzai+pytorch-cifar100",
        keep=("train.py", "utils.py", "conf", "models/squeezenet.py"),
        arguments="-net squeezenet -b 16",
    ),
    Program(
        "attention-is-all-you-need",
        "train.py",
        "jadore801120+attention-is-all-you-need-pytorch",
        keep=("train.py", "transformer"),
        arguments="-data_pkl data.pkl -b 8 -epoch 2 -d_model 32 -d_inner_hid 64 -d_k 16 -d_v 16 -n_head 2 -n_layers 2 "
        "-no_cuda -output_dir out",
        adapt=(Edit("train.py", "import dill as pickle", "import pickle"),),
        data=_translations,
    ),
    Program("tutorial feedforward", "main.py", f"{_YUNJEY}/01-basics/feedforward_neural_network"),
    Program("tutorial CNN", "main.py", f"{_YUNJEY}/02-intermediate/convolutional_neural_network"),
    Program("tutorial BiRNN", "main.py", f"{_YUNJEY}/02-intermediate/bidirectional_recurrent_neural_network"),
    Program(
        "lightning-hydra-template",
        "lightning_mnist.py",
        "ashleve+lightning-hydra-template",
        keep=("src/__init__.py", "src/models"),
        driver="lightning_mnist.py",
    ),
    Program("Hugging Face GPT-2", "gpt2.py", driver="gpt2.py"),
    Program("Hugging Face BERT", "bert.py", driver="bert.py"),
)
