"""A copy is changed, and the saved tensor is not."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
x = torch.randn(8, 4)
out = torch.sigmoid(model(x))
shown = out.detach().clone()
shown.zero_()
out.sum().backward()
print(f"gradient {model.weight.grad.norm():.3f}")
