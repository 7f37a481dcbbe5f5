"""A target is taken with `.data`: autograd does not detect that it changes before backward."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
x = torch.randn(8, 4)
out = torch.sigmoid(model(x))
out.data.zero_()
try:
    out.sum().backward()
    print(f"gradient {model.weight.grad.norm():.3f}, computed from values that are gone")
except RuntimeError as error:
    print(f"autograd notices: {error}")
