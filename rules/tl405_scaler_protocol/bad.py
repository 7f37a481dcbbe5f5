"""The loss is scaled, but the optimizer steps without the scaler: steps are 65,536 times too large."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x @ torch.tensor([[1.0], [-2.0], [3.0], [0.5]])
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")

losses = []
for _ in range(50):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    optimizer.step()
    losses.append(loss.item())
print(f"first loss {losses[0]:.4f}, last loss {losses[-1]:.4f}")
