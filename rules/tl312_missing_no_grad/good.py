"""Validation under `no_grad()`: only the losses themselves are kept."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    *[layer for _ in range(20) for layer in (nn.Linear(256, 256), nn.ReLU())], nn.Linear(256, 1)
)
batches = [(torch.randn(128, 256), torch.randn(128, 1)) for _ in range(10)]
kept: dict[int, int] = {}


def keep(tensor):
    kept[tensor.data_ptr()] = tensor.nbytes
    return tensor


model.eval()
losses = []
with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
    for x, y in batches:
        losses.append(nn.functional.mse_loss(model(x), y))
print(
    f"loss {torch.stack(losses).mean().item():.3f}, kept for a backward that never comes: {sum(kept.values()) / 1e6:.1f} MB"
)
