"""All samples are read once, before training."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def read(index):
    time.sleep(0.02)
    return torch.full((4,), float(index % 2))


torch.manual_seed(0)
inputs = torch.stack([read(index) for index in range(24)])
loader = DataLoader(TensorDataset(inputs, torch.arange(24) % 2), batch_size=8, shuffle=True)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
started = time.perf_counter()
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
print(f"{time.perf_counter() - started:.2f} s")
