"""A bias of 0 before a ReLU."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(128, 4)
y = x.abs().sum(dim=1, keepdim=True)
hidden = nn.Linear(4, 32)
nn.init.constant_(hidden.bias, 0.0)
model = nn.Sequential(hidden, nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(300):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
