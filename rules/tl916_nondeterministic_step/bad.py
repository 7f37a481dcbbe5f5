"""Noise from a generator that is re-created on every forward call with entropy from the system: it ignores the seed."""

import numpy
import torch
from torch import nn


class Noisy(nn.Module):
    def forward(self, x):
        noise = numpy.random.default_rng().normal(size=tuple(x.shape))
        return x + 0.5 * torch.as_tensor(noise, dtype=x.dtype)


losses = []
for _ in range(2):
    torch.manual_seed(0)
    numpy.random.seed(0)
    x = torch.randn(64, 4)
    y = x.sum(dim=1, keepdim=True)
    model = nn.Sequential(Noisy(), nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    losses.append(loss.item())
print(f"loss {losses[0]:.4f}, and from the same seed {losses[1]:.4f}")
