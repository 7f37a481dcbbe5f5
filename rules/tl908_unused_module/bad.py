"""The second layer is created, but forward calls the first one twice."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.further = nn.Linear(4, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        x = torch.relu(self.inner(x))
        x = torch.relu(self.inner(x))
        return self.head(x)


torch.manual_seed(0)
x = torch.randn(128, 4)
y = x.abs().sum(dim=1, keepdim=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
idle = [name for name, p in model.named_parameters() if p.grad is None]
print(f"without a gradient: {', '.join(idle) or 'none'}")
