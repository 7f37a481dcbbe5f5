"""A bias whose gradient is only rounding: the batch normalisation after it subtracts it."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 3, 8, 8)
y = x.mean(dim=(1, 2, 3)).unsqueeze(1)
model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(8, 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
grad = model[0].bias.grad if model[0].bias is not None else torch.zeros(0)
print(f"loss {loss.item():.3f}, largest gradient of {grad.numel()} biases {grad.abs().sum().item():.1e}")
