"""`hidden = hidden + 1` creates a new tensor, and the saved output of the sigmoid is not changed."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(dim=1, keepdim=True)
first, second = nn.Linear(4, 16), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
steps = 0
for _ in range(100):
    optimizer.zero_grad()
    hidden = first(x).sigmoid()
    hidden = hidden + 1
    loss = nn.functional.mse_loss(second(hidden), y)
    loss.backward()
    optimizer.step()
    steps += 1
print(f"{steps} steps")
