"""Gradients are set to None, and their memory is free during the forward."""

from operator import attrgetter

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 1024)
y = torch.randn(64, 1024)
model = nn.Linear(1024, 1024)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
gradient_of = attrgetter("grad")

for _ in range(5):
    optimizer.zero_grad()
    held = [gradient_of(one) for one in model.parameters()]
    size = sum(one.nbytes for one in held if one is not None)
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"gradients kept during the forward: {size / 1e6:.1f} MB")
