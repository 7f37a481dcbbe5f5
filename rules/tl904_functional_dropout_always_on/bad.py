"""Functional dropout without `training=`: two evaluations of the same model differ."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 64)
        self.head = nn.Linear(64, 1)

    def forward(self, x):
        return self.head(F.dropout(F.relu(self.hidden(x)), p=0.5))


torch.manual_seed(0)
x = torch.randn(128, 4)
y = x.sum(dim=1, keepdim=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(10):
    model.train()
    for _ in range(3):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        first, second = F.mse_loss(model(x), y).item(), F.mse_loss(model(x), y).item()
print(f"validation loss {first:.3f}, and again {second:.3f}")
