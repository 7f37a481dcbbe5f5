"""Log-softmax without `dim`: for three dimensions torch picks the batch."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(32, 5, 8)
y = (x[..., 0] > 0).long()
model = nn.Linear(8, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(100):
    optimizer.zero_grad()
    scores = F.log_softmax(model(x))
    loss = F.nll_loss(scores.transpose(1, 2), y)
    loss.backward()
    optimizer.step()
total = scores.exp().sum(dim=-1).mean()
print(f"the probabilities of one position sum to {total:.2f}")
