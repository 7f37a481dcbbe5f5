"""10,000 parameter tensors in 5,000 layers, each of which is called; prints the processor seconds of each training step."""

import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Wide(nn.Module):
    """All layers get the same input."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 10) for _ in range(5000))

    def forward(self, x):
        return torch.stack([layer(x) for layer in self.layers]).mean(0)


model = Wide()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(int(sys.argv[1])):
    x, y = torch.randn(8, 8), torch.randint(0, 10, (8,))
    began = time.process_time()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"step {time.process_time() - began:.4f}", flush=True)
