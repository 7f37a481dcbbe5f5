"""Three linear layers on random numbers; prints the processor seconds of each training step."""

import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(int(sys.argv[1])):
    x, y = torch.randn(64, 256), torch.randint(0, 10, (64,))
    began = time.process_time()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"step {time.process_time() - began:.4f}", flush=True)
