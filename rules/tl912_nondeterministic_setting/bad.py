"""The flag is misspelt, and Python silently accepts it."""

import torch
from torch import nn

torch.manual_seed(0)
torch.backends.cudnn.determinstic = True
model = nn.Conv1d(1, 1, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    model(torch.ones(1, 1, 8)).square().mean().backward()
    optimizer.step()
print("deterministic:", torch.backends.cudnn.deterministic)
