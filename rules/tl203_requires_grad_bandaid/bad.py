import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
inputs, targets = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(50):
    optimizer.zero_grad()
    loss = F.mse_loss(model(inputs).detach(), targets)
    loss.requires_grad = True
    loss.backward()
    optimizer.step()
    if step in (0, 49):
        print(
            f"step {step}: loss {loss.item():.3f}, weights have a gradient: {model.weight.grad is not None}"
        )
