"""3,000 small layers, one after the other; prints the processor seconds of each training step."""

import sys

import torch
from torch import nn
from training import train

torch.manual_seed(0)
model = nn.Sequential(
    *(layer for _ in range(1500) for layer in (nn.Linear(16, 16), nn.Tanh())), nn.Linear(16, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
train(model, optimizer, int(sys.argv[1]), lambda: (torch.randn(32, 16), torch.randint(0, 10, (32,))))
