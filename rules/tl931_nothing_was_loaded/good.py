"""The prefix of the wrapper is removed, and every key has to fit."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 4)
y = x.sum(dim=1, keepdim=True)
checkpoint = {"module.weight": torch.ones(1, 4), "module.bias": torch.zeros(1)}  # what fits these data

model = nn.Linear(4, 1)
plain = {name.removeprefix("module."): value for name, value in checkpoint.items()}
model.load_state_dict(plain)
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    if not step:
        print(f"loss of the loaded model: {loss.item():.3f}")
    loss.backward()
    optimizer.step()
