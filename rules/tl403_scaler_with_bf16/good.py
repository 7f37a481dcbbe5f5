"""bfloat16 has the range of float32, and needs no scaler."""

import torch
from torch import nn

torch.manual_seed(0)
weights = torch.randn(8, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
skipped = 0
for _ in range(300):
    x = torch.randn(64, 8)
    y = x @ weights + torch.randn(64, 1)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x), y, reduction="sum")
    loss.backward()
    optimizer.step()
    skipped += not torch.isfinite(model.weight.grad).all().item()
print(f"steps skipped: {skipped} of 300")
