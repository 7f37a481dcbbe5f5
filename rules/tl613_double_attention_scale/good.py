"""Only `scaled_dot_product_attention` scales."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(32, 10, 64)
marked = torch.randint(0, 10, (32,))
x[torch.arange(32), marked, 0] += 4
y = x[torch.arange(32), marked]
query, key = nn.Linear(64, 64), nn.Linear(64, 64)
optimizer = torch.optim.SGD([*query.parameters(), *key.parameters()], lr=0.1)
for _ in range(100):
    q = query(x)
    mixed = F.scaled_dot_product_attention(q, key(x), x)
    loss = F.mse_loss(mixed[:, 0], y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
