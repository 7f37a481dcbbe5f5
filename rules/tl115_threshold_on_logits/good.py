"""Logits are compared with 0, where the probability is 0.5."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(2000, 2)
y = (torch.rand(2000, 1) < torch.sigmoid(x.sum(dim=1, keepdim=True))).float()
model = nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(200):
    optimizer.zero_grad()
    logits = model(x)
    loss = F.binary_cross_entropy_with_logits(logits, y)
    loss.backward()
    predicted = (logits > 0).float()
    optimizer.step()
print(f"recall {predicted[y == 1].mean():.3f}")
