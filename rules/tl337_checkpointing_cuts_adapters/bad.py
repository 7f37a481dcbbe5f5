"""The checkpointed blocks follow a frozen embedding, so nothing that they are given requires a gradient."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Linear(8, 32)
        self.block = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(checkpoint(self.block, self.embedding(x), use_reentrant=True))


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sign()
model = Net()
for parameter in model.embedding.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.Adam([one for one in model.parameters() if one.requires_grad], lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
