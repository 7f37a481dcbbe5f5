"""Three deprecated names: each warns, and a later torch may remove them."""

import warnings

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(dim=1, keepdim=True)
model = nn.Linear(4, 1)
with warnings.catch_warnings(record=True) as raised:
    warnings.simplefilter("always")
    nn.init.xavier_uniform(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.MSELoss(size_average=True)
    for _ in range(20):
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        nn.utils.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
print(f"{len(raised)} warnings", *(one.message for one in raised[:1]), sep=", the first: ")
