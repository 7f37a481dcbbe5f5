"""The predictions are rounded before the loss, so no gradient reaches the model."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(dim=1, keepdim=True).round()
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    optimizer.zero_grad()
    loss = F.mse_loss(torch.round(model(x)), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
