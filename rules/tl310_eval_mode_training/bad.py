"""Validation calls `eval()` and nothing calls `train()`: batch norm uses frozen statistics, and the loss stays at log 2."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
blocks = [layer for _ in range(6) for layer in (nn.Linear(32, 32), nn.BatchNorm1d(32), nn.ReLU())]
model = nn.Sequential(nn.Linear(8, 32), *blocks, nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

model.train()
for epoch in range(10):
    for batch, target in zip(x.split(64), y.split(64)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), target)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        validation = nn.functional.cross_entropy(model(x), y)
print(f"loss {validation.item():.3f}, where guessing gives 0.693")
