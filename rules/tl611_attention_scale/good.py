"""Scores are divided by the square root of the head dimension."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(32, 10, 512)
marked = torch.randint(0, 10, (32,))
x[torch.arange(32), marked, 0] += 20
y = x[torch.arange(32), marked, :8]
query, key = nn.Linear(512, 512), nn.Linear(512, 512)
optimizer = torch.optim.Adam([*query.parameters(), *key.parameters()], lr=0.001)
for _ in range(20):
    scores = query(x) @ key(x).transpose(1, 2) / 512**0.5
    weights = torch.softmax(scores, dim=-1)
    loss = F.mse_loss((weights @ x)[:, 0, :8], y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.3f}, largest weight {weights.max(dim=-1).values.mean().item():.2f}")
