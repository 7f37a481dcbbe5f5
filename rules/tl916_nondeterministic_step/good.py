"""Noise from the seeded generator."""

import torch
from torch import nn


class Noisy(nn.Module):
    def forward(self, x):
        noise = torch.randn_like(x)
        return x + 0.5 * noise


losses = []
for _ in range(2):
    torch.manual_seed(0)
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
