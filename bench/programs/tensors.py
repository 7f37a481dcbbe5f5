"""10,000 parameter tensors in 5,000 layers, each of which is called; prints the processor seconds of each training step."""

import sys

import torch
from torch import nn
from training import train

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
train(model, optimizer, int(sys.argv[1]), lambda: (torch.randn(8, 8), torch.randint(0, 10, (8,))))
