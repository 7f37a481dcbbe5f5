"""float32 matmuls run in full precision, on hardware with a faster mode."""

import time

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
size = 4096 if device.type == "cuda" else 64
model = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
x, y = torch.randn(4096, size, device=device), torch.randn(4096, 1, device=device)
began = time.perf_counter()
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}, {time.perf_counter() - began:.3f} s for 10 steps on {device}")
