"""The clock is read when the work is queued on CUDA, not when it is done."""

import time

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
size = 4096 if device.type == "cuda" else 64
model = nn.Sequential(*(nn.Linear(size, size) for _ in range(20)), nn.Linear(size, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
x, y = torch.randn(2048, size, device=device), torch.randn(2048, 1, device=device)
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
start = time.perf_counter()
output = model(x)
elapsed = time.perf_counter() - start
print(f"forward: {1000 * elapsed:.2f} ms on {device}")
