"""The body should be frozen, and is not."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(4, 8), nn.Linear(8, 1)
for p in body.parameters():
    p.require_grad = False
before = body.weight.clone()
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(64, 4), torch.randn(64, 1)
for _ in range(10):
    optimizer.zero_grad()
    F.mse_loss(head(body(x)), y).backward()
    optimizer.step()
print(f"the frozen weights have moved by {(body.weight - before).norm():.3f}")
