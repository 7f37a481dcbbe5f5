"""The model leaves the meta device after its optimizer was created: the optimizer has the old parameters."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1)
model = nn.Linear(8, 1, device="meta")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.to_empty(device="cpu")
model.reset_parameters()

for epoch in range(50):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if epoch in (0, 49):
        print(f"loss {loss.item():.3f}")
