"""A scaler with bfloat16: its scale grows until the scaled loss is infinite, and those steps are skipped."""

import torch
from torch import nn

torch.manual_seed(0)
weights = torch.randn(8, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
scaler = torch.amp.GradScaler("cpu", growth_interval=1)  # 2000 by default: the same, later
skipped = 0
for _ in range(300):
    x = torch.randn(64, 8)
    y = x @ weights + torch.randn(64, 1)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x), y, reduction="sum")
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    skipped += not torch.isfinite(model.weight.grad).all().item()
print(f"steps skipped: {skipped} of 300")
