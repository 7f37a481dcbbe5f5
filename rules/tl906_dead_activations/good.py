"""Weights of both signs, torch's default initialisation."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(256, 8).log()
y = x.exp().sum(dim=1, keepdim=True)
y = (y - y.mean()) / y.std()
hidden = nn.Linear(8, 64)
model = nn.Sequential(hidden, nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(500):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
