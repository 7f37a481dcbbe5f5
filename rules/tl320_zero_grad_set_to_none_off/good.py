"""Gradients are set to None, and their memory is free during the forward."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 1024)
y = torch.randn(64, 1024)
model = nn.Linear(1024, 1024)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for _ in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss: {loss.item():.3f}")
