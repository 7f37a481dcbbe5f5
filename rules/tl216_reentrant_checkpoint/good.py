"""The non-reentrant variant needs no input that requires grad."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
body, head = nn.Linear(4, 8), nn.Linear(8, 1)
out = head(checkpoint(body, torch.randn(16, 4), use_reentrant=False))
loss = out.pow(2).mean()
loss.backward()
print(f"the checkpointed layer has a gradient: {body.weight.grad is not None}")
