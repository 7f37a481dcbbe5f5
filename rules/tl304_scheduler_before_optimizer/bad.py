"""The scheduler steps at the start of each epoch: the rate of the first one is never used."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.1)

rates = []
for epoch in range(4):
    scheduler.step()
    rates.append(optimizer.param_groups[0]["lr"])
    for batch, target in zip(x.split(64), y.split(64)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(batch), target)
        loss.backward()
        optimizer.step()
print(f"rates {', '.join(f'{rate:.4f}' for rate in rates)}; loss {loss.item():.3f}")
