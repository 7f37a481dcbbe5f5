"""The graph of each step is kept for a second backward pass that does not exist."""

import weakref

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(256, 32), torch.randn(256, 1)
model = nn.Sequential(nn.Linear(32, 512), nn.Tanh(), nn.Linear(512, 1))
hidden = []
model[1].register_forward_hook(lambda module, given, out: hidden.append(weakref.ref(out)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(20):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward(retain_graph=True)
    optimizer.step()
print(f"hidden activations in memory after the step: {hidden[-1]() is not None}")
