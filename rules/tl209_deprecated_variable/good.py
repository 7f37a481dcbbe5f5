"""The prediction is used directly."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
model = nn.Linear(4, 1)
out = model(x)
loss = F.mse_loss(out, y)
print(f"the loss can be trained on: {loss.requires_grad}")
