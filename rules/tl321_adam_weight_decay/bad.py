"""An input that is always 0: Adam moves its weight to 0 at the full learning rate, for a weight decay of 1e-6."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 2)
x[:, 1] = 0
y = x[:, :1]
model = nn.Linear(2, 1)
with torch.no_grad():
    model.weight.fill_(1.0)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-6)

for _ in range(200):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
print(f"weight of the input that is always 0: {model.weight[0, 1].item():.2f}")
