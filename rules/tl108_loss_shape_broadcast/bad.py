"""Predictions of shape [128, 1] and targets of shape [128]: the model can only learn the mean."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(128, 4)
y = x @ torch.tensor([1.0, -2.0, 3.0, 0.5])
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(300):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"error of each prediction {(model(x).squeeze(-1) - y).square().mean().item():.3f}")
