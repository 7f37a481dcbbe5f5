"""One feature is constant, and its standard deviation is kept away from 0."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 1)

    def forward(self, x):
        x = (x - x.mean(dim=0)) / (x.std(dim=0) + 1e-6)
        return self.linear(x)


x = torch.randn(64, 4)
x[:, 3] = 1.0
y = x[:, :1] - x[:, 1:2]
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}, weights {model.linear.weight.tolist()}")
