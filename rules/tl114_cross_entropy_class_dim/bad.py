"""Logits of shape [64, 8, 8], batch, position, class: cross-entropy treats the positions as classes."""

import torch
from torch import nn

torch.manual_seed(0)
tokens = torch.randint(0, 8, (64, 8))
targets = (tokens + 1) % 8
model = nn.Sequential(nn.Embedding(8, 32), nn.Linear(32, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), targets)
    loss.backward()
    optimizer.step()
right = (model(tokens).argmax(dim=-1) == targets).float().mean().item()
print(f"loss {loss.item():.2f}, right {right:.0%}")
