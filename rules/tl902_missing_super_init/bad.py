"""A layer is set before `nn.Module` can register it: torch raises."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(4, 1)
        super().__init__()

    def forward(self, x):
        return self.fc(x)


torch.manual_seed(0)
try:
    print(Net()(torch.ones(1, 4)).item())
except AttributeError as error:
    print(f"AttributeError: {error}")
