"""Both layers are in the optimizer."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 4)
y = 10 * torch.sin(2 * x).sum(dim=1, keepdim=True)
hidden, head = nn.Linear(4, 64), nn.Linear(64, 1)
model = nn.Sequential(hidden, nn.Tanh(), head)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(500):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
