"""The names that replace them."""

import warnings

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(dim=1, keepdim=True)
model = nn.Linear(4, 1)
with warnings.catch_warnings(record=True) as raised:
    warnings.simplefilter("always")
    nn.init.xavier_uniform_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.MSELoss(reduction="mean")
    for _ in range(20):
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
print(f"{len(raised)} warnings")
