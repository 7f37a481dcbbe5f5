"""`super().__init__()` comes first, and the layer is registered."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)


torch.manual_seed(0)
print(Net()(torch.ones(1, 4)).item())
