"""The hidden layer is re-created on every forward call: the head gets random features that change each time."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        hidden = nn.Linear(x.shape[1], 32)
        return self.head(torch.relu(hidden(x)))


torch.manual_seed(0)
x = torch.randn(128, 4)
y = x.sum(dim=1, keepdim=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"{sum(p.numel() for p in model.parameters())} parameters are trained, loss {loss.item():.3f}")
