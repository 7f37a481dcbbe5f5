"""The log of one minus a probability, in a GAN's loss: a confident discriminator makes it infinite."""

import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Linear(2, 2)
discriminator = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
nn.init.constant_(discriminator[0].bias, 40.0)
optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    fake = discriminator(generator(torch.randn(16, 2)))
    loss = torch.log(1 - fake).mean()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item()}, weight {generator.weight[0, 0].item()}")
