"""The optimizer is created after the model was moved, with its final parameters."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1)
model = nn.Linear(8, 1, device="meta")
model.to_empty(device="cpu")
model.reset_parameters()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(50):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if epoch in (0, 49):
        print(f"loss {loss.item():.3f}")
