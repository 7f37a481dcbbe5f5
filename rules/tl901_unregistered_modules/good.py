"""The hidden layers are in an `nn.ModuleList`: all of them are trained."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(2 if i == 0 else 16, 16) for i in range(3)])
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.head(x)


torch.manual_seed(0)
x = torch.rand(128, 2) * 4 - 2
y = torch.sin(3 * x[:, :1]) * x[:, 1:]
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"{sum(p.numel() for p in model.parameters())} parameters are trained, loss {loss.item():.3f}")
