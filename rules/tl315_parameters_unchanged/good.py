"""The scale is kept in float32."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 32)
model = nn.LayerNorm(32, bias=False)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
for _ in range(2000):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(x).float().square().mean()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
