"""Gradients of eight micro-batches are summed instead of averaged: the step is eight times too large, and SGD diverges."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)

for epoch in range(20):
    for i, (batch, target) in enumerate(zip(x.split(32), y.split(32))):
        loss = nn.functional.mse_loss(model(batch), target)
        loss.backward()
        if (i + 1) % 8 == 0:
            optimizer.step()
            optimizer.zero_grad()
print(f"loss {loss.item():.3g}")
