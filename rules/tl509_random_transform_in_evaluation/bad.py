"""The pictures that the model is judged by are flipped at random: another score each time."""

import sys
import types

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

try:
    from torchvision import transforms
except ImportError:  # a stand-in for the two transforms that are used below

    class Compose:
        def __init__(self, steps):
            self.steps = steps

        def __call__(self, picture):
            for step in self.steps:
                picture = step(picture)
            return picture

    class RandomHorizontalFlip:
        def __call__(self, picture):
            return picture.flip(-1) if torch.rand(1) < 0.5 else picture

    transforms = types.SimpleNamespace(Compose=Compose, RandomHorizontalFlip=RandomHorizontalFlip)
    sys.modules["torchvision"] = transforms
