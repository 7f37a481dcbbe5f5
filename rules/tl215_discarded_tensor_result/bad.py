"""Probabilities are clamped away from 0, but the result is discarded."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
x = 300 * torch.randn(16, 4)
p = model(x).softmax(dim=1)
p.clamp(min=1e-6)
loss = -p.log().mean()
loss.backward()
print(f"loss {loss.item():.3f}")
