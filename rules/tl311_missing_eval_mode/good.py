"""Validation in evaluation mode: the accuracy is that of the whole model."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.7), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(10):
    model.train()
    for batch, target in zip(x[:256].split(64), y[:256].split(64)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(batch), target).backward()
        optimizer.step()
    model.eval()
    correct = 0
    with torch.no_grad():
        for batch, target in zip(x[256:].split(64), y[256:].split(64)):
            correct += (model(batch).argmax(dim=1) == target).sum().item()
    accuracy = correct / 256
print(f"accuracy {accuracy:.3f}")
