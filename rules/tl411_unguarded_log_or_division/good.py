"""The same loss on logits."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.Linear(2, 2)
discriminator = nn.Linear(2, 1)
nn.init.constant_(discriminator.bias, 40.0)
optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    fake = discriminator(generator(torch.randn(16, 2)))
    loss = F.logsigmoid(-fake).mean()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item()}, weight {generator.weight[0, 0].item()}")
