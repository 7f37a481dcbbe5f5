"""A reentrant checkpoint: its layer gets no gradient, because the input does not require grad."""

import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
torch.manual_seed(0)
body, head = nn.Linear(4, 8), nn.Linear(8, 1)
out = head(checkpoint(body, torch.randn(16, 4)))
loss = out.pow(2).mean()
loss.backward()
print(f"the checkpointed layer has a gradient: {body.weight.grad is not None}")
