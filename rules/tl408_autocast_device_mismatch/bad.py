"""Autocast for CUDA around a model on the CPU: nothing is cast."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        output = model(torch.randn(4, 8))
    output.float().square().mean().backward()
    optimizer.step()
print(f"computed in {output.dtype}")
