"""The weights are float16, and small updates are rounded away."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1)
model = nn.Linear(8, 1)
model.half()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
for _ in range(3000):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x.half()).float(), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.5f}")
