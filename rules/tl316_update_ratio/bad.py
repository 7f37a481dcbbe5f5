"""A learning rate that is a thousand times too high: every step overwrites the weights."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 16)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3.0)
for _ in range(200):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
accuracy = (model(x).argmax(dim=1) == y).float().mean().item()
print(f"accuracy {accuracy:.0%}, loss {loss.item():.3f}")
