"""The model is trained on its scores, and evaluated by its accuracy."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 4)
y = (x.sum(dim=1) > 0).long()
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    optimizer.zero_grad()
    scores = model(x)
    accuracy = (scores.argmax(dim=1) == y).float().mean()
    loss = F.cross_entropy(scores, y)
    loss.backward()
    optimizer.step()
print(f"accuracy {accuracy.item():.3f}")
