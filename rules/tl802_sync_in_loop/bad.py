"""The loss is read on each step: Python waits for the device before it queues the next step."""

import time

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(10)), nn.Linear(64, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 64, device=device), torch.randn(64, 1, device=device)
began, total = time.perf_counter(), 0.0
for _ in range(30):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()
print(f"mean loss {total / 30:.3f}, {time.perf_counter() - began:.3f} s on {device}")
