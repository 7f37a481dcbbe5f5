"""Gradients of all earlier iterations accumulate in `.grad`: the loss oscillates and grows instead of falling."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x @ torch.tensor([[1.0], [-2.0], [3.0], [0.5]])
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

losses = []
for _ in range(50):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"first loss {losses[0]:.3f}, last loss {losses[-1]:.3f}, worst loss {max(losses):.3f}")
