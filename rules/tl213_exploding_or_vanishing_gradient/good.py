"""As deep, but with residual connections: gradients do not vanish."""

import torch
from torch import nn

torch.manual_seed(0)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.linear = nn.Linear(32, 32)

    def forward(self, x):
        return x + torch.sigmoid(self.linear(self.norm(x)))


x = torch.randn(256, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), *(Residual() for _ in range(15)), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
for _ in range(150):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
