"""A prediction is wrapped into a `Variable`, and loses its graph."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
model = nn.Linear(4, 1)
out = Variable(model(x))
loss = F.mse_loss(out, y)
print(f"the loss can be trained on: {loss.requires_grad}")
