"""A detached copy of the codes is kept for inspection, and the loss uses the attached one: both layers are trained."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 2)
        self.head = nn.Linear(2, 1)

    def forward(self, x):
        codes = self.encoder(x)
        self.codes = codes.detach()
        return self.head(codes)


x = torch.randn(128, 8)
y = x[:, :1] - 2 * x[:, 1:2]
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(200):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y) + 1e-4 * sum(p.square().sum() for p in model.head.parameters())
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
