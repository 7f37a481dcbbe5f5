import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
inputs, targets = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(100):
    optimizer.zero_grad()
    penalty = sum(p.abs().sum() for p in model.parameters()).item()
    loss = F.mse_loss(model(inputs), targets) + 0.5 * penalty
    loss.backward()
    optimizer.step()
    if step in (0, 99):
        print(f"step {step}: sum of weights {model.weight.abs().sum().item():.3f}")
