"""3,000 small layers, one after the other; prints the processor seconds of each training step."""

import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    *(layer for _ in range(1500) for layer in (nn.Linear(16, 16), nn.Tanh())), nn.Linear(16, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(int(sys.argv[1])):
    x, y = torch.randn(32, 16), torch.randint(0, 10, (32,))
    began = time.process_time()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"step {time.process_time() - began:.4f}", flush=True)
