"""Trains the template's Lightning module on synthetic pictures, without its configuration system."""

from functools import partial

import torch
from lightning import Trainer, seed_everything
from src.models.components.simple_dense_net import SimpleDenseNet
from src.models.mnist_module import MNISTLitModule
from torch.utils.data import DataLoader, TensorDataset


def pictures(count):
    labels = torch.arange(count) % 10
    return TensorDataset(torch.randn(count, 1, 28, 28) + labels.view(-1, 1, 1, 1) / 10, labels)


def main():
    seed_everything(0)
    module = MNISTLitModule(SimpleDenseNet(), partial(torch.optim.Adam, lr=1e-3), None, compile=False)
    trainer = Trainer(
        accelerator="cpu", max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(
        module,
        DataLoader(pictures(128), batch_size=16, shuffle=True),
        DataLoader(pictures(32), batch_size=16),
    )


if __name__ == "__main__":
    main()
