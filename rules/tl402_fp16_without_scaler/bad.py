"""Autocast to float16 without a scaler: gradients are too small for float16, and become 0."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 16)
y = 0.0001 * torch.tanh(x @ torch.randn(16, 64))
model = nn.Linear(16, 64)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)
losses = []
for _ in range(100):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(1e8 * loss.item())
print(f"first loss {losses[0]:.3f}, last loss {losses[-1]:.3f}, in units of 1e-8")
