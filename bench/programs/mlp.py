"""Three linear layers on random numbers; prints the processor seconds of each training step."""

import sys

import torch
from torch import nn
from training import train

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
train(model, optimizer, int(sys.argv[1]), lambda: (torch.randn(64, 256), torch.randint(0, 10, (64,))))
