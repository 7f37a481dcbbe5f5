"""In bfloat16 every change of the scale is rounded away."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 32)
model = nn.LayerNorm(32, bias=False).to(torch.bfloat16)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
for _ in range(2000):
    optimizer.zero_grad()
    loss = model(x.to(torch.bfloat16)).float().square().mean()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
