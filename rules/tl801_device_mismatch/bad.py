"""The batch is moved, and the moved tensor is discarded."""

import torch
from torch import nn

device = torch.device("meta")
model = nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
steps = 0
try:
    for _ in range(3):
        x = torch.randn(4, 8)
        x.to(device)
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        steps += 1
except RuntimeError as error:
    print(error)
print(f"{steps} steps")
