"""The parameters of a backbone are frozen, and its batch norm goes on counting."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8) * 3 + 5
y = (x[:, 0] > 5).long()
backbone = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU())
for parameter in backbone.parameters():
    parameter.requires_grad = False
head = nn.Linear(16, 2)
model = nn.Sequential(backbone, head)
optimizer = torch.optim.Adam(head.parameters(), lr=0.05)
before = backbone[1].running_mean.clone()
model.train()
for _ in range(50):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
moved = (backbone[1].running_mean - before).abs().max().item()
print(f"running mean of the frozen backbone moved by {moved:.2f}, loss {loss.item():.3f}")
