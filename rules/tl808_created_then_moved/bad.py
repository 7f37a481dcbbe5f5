"""A mask is created on the CPU and copied on each step."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 8, device=device), torch.randn(64, 1, device=device)
for _ in range(20):
    optimizer.zero_grad()
    noise = torch.randn(64, 8).to(device)
    loss = nn.functional.mse_loss(model(x + 0.1 * noise), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f} on {device}")
