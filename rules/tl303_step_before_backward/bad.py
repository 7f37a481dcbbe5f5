"""The step comes before `backward()`, when `zero_grad()` has just cleared everything: the loss never changes."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x @ torch.tensor([[1.0], [-2.0], [3.0], [0.5]])
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

losses = []
for _ in range(50):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.step()
    loss.backward()
    losses.append(loss.item())
print(f"first loss {losses[0]:.3f}, last loss {losses[-1]:.3f}")
