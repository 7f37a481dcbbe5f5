"""Libraries that leave training alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


_HARMLESS = (
    "torch.",
    "numpy.",
    "math.",
    "os.",
    "time.",
    "random.",
    "json.",
    "logging.",
    "wandb.",
    "torchvision.",
    "sys.",
    "re.",
    "matplotlib.",
    "sklearn.",
    "tensorboardX.",
    "builtins.",
    "collections.",
    "itertools.",
    "datetime.",
    "warnings.",
    "pathlib.",
    "pandas.",
    "scipy.",
    "PIL.",
    "cv2.",
    "torchsummary.",
    "torchinfo.",
    "einops.",
    "functools.",
    "yaml.",
    "torchtext.",
    "torchaudio.",
    "loguru.",
    "gc.",
    "pickle.",
    "shutil.",
    "typing.",
    "argparse.",
    "evaluate.",
    "datasets.",
    "numbers.",
    "string.",
    "tempfile.",
    "torchmetrics.",
    "rich.",
    "dataclasses.",
    "operator.",
    "timeit.",
    "fvcore.",
    "thop.",
    "bisect.",
    "heapq.",
    "statistics.",
    "csv.",
    "glob.",
    "io.",
    "hashlib.",
    "pprint.",
    "h5py.",
    "skimage.",
    "imageio.",
    "seaborn.",
    "networkx.",
    "nltk.",
    "tabulate.",
    "prettytable.",
    "mlflow.",
    "contextlib.",
    "weakref.",
    "types.",
    "enum.",
)
"""Libraries that step no optimizer, clear no gradients and change no mode of what they are given."""


def is_harmless(name: str) -> bool:
    """Whether a name is that of such a library."""
    return name.startswith(_HARMLESS)
