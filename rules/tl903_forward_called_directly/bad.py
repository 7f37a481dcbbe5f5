"""`forward` of a pruned layer is called directly: it keeps the weights that it had when it was pruned."""

import torch
from torch import nn
from torch.nn.utils import prune

torch.manual_seed(0)
x = torch.randn(128, 8)
y = x[:, :1] * 2
layer = nn.Linear(8, 1)
prune.l1_unstructured(layer, "weight", amount=0.5)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(30):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(layer.forward(x), y)
    loss.backward(retain_graph=True)
    optimizer.step()
print(f"loss {loss.item():.3f}")
