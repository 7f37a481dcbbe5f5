"""The same with a scaler: gradients are 65,536 times larger."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 16)
y = torch.sin(2 * x)
model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu")
for _ in range(200):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        output = model(x)
    error = nn.functional.mse_loss(output.float(), y)
    loss = 1e-4 * error
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(f"error {error.item():.3f}")
