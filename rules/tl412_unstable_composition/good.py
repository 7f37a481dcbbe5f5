"""Log-softmax fuses both steps."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
x, y = 100 * torch.randn(16, 4), torch.randint(0, 3, (16,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    log_p = torch.log_softmax(model(x), dim=1)
    loss = nn.functional.nll_loss(log_p, y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item()}")
