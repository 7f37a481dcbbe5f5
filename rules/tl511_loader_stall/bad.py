"""Reading a sample takes longer than training on it."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        time.sleep(0.02)
        return torch.full((4,), float(index % 2)), index % 2


torch.manual_seed(0)
loader = DataLoader(Slow(), batch_size=8, shuffle=True)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
started = time.perf_counter()
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
print(f"{time.perf_counter() - started:.2f} s")
