"""As much of torchvision as the programs use, with synthetic pictures in place of downloads."""

from torchvision import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]
