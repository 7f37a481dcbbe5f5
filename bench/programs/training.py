"""The loop of the programs here: prints the processor seconds of each training step."""

import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, steps: int, batch: Callable[[], tuple[Tensor, Tensor]]
) -> None:
    """Train on new batches of inputs and classes; the last axis of what the model returns is the classes."""
    for _ in range(steps):
        x, y = batch()
        began = time.process_time()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, -2), y.flatten())
        loss.backward()
        optimizer.step()
        print(f"step {time.process_time() - began:.4f}", flush=True)
