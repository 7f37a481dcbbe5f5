"""A sampler that balances the classes together with `shuffle=True`: `DataLoader` raises."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
x = torch.randn(120, 4)
y = (torch.arange(120) % 6 == 0).long()
sampler = WeightedRandomSampler(torch.where(y == 1, 5.0, 1.0), num_samples=120)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True, sampler=sampler)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    print("trained")
except ValueError as error:
    print(f"not trained: {error}")
