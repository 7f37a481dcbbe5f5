"""A small residual network on random images; prints the processor seconds of each training step."""

import sys

import torch
import torch.nn.functional as F
from torch import nn
from training import train


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.first = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outside)
        self.second = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outside)
        self.short = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(y)) + self.short(x))


torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 64, 3, 1, 1),
    Block(64, 64, 1),
    Block(64, 128, 2),
    Block(128, 256, 2),
    Block(256, 512, 2),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(512, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
train(model, optimizer, int(sys.argv[1]), lambda: (torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))))
