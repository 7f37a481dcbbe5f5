"""A cosine schedule over the number of epochs steps once per epoch: the last one has a rate near 0."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1)
epochs = 20
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)

for epoch in range(epochs):
    rates = []
    for batch, target in zip(x.split(32), y.split(32)):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.zero_grad()
        nn.functional.mse_loss(model(batch), target).backward()
        optimizer.step()
    scheduler.step()
print(f"highest rate of the last epoch: {max(rates):.3f}")
