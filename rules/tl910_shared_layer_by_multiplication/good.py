"""Four hidden layers, each with its own weights."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(128, 2) * 4 - 2
y = torch.sin(3 * x[:, :1]) * x[:, 1:]
hidden = [layer for _ in range(4) for layer in (nn.Linear(16, 16), nn.Tanh())]
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), *hidden, nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"{sum(p.numel() for p in model.parameters())} parameters, loss {loss.item():.3f}")
