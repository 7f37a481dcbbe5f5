"""The error rate is used as the loss."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 4)
y = (x.sum(dim=1) > 0).long()
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    optimizer.zero_grad()
    accuracy = (model(x).argmax(dim=1) == y).float().mean()
    loss = 1 - accuracy
    try:
        loss.backward()
    except RuntimeError as error:
        print(str(error).splitlines()[0])
        break
    optimizer.step()
print(f"accuracy {accuracy.item():.3f}")
