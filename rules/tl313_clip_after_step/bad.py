"""Gradients are clipped after the step: one mislabelled batch ruins the model."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1)
y[128:132] = 1e4
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(20):
    for batch, target in zip(x.split(64), y.split(64)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(batch), target)
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
print(f"loss on the good half {nn.functional.mse_loss(model(x[:128]), y[:128]).item():.3f}")
