"""Weights in bfloat16 with a small learning rate: rounding drops nearly every update."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 32)
y = x @ torch.randn(32, 1)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1)).to(torch.bfloat16)
before = [one.detach().clone() for one in model.parameters()]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.0)
for _ in range(50):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x.bfloat16()).float(), y)
    loss.backward()
    optimizer.step()
same = sum(int((one == old).sum()) for one, old in zip(model.parameters(), before))
count = sum(one.numel() for one in before)
print(f"after 50 steps {same / count:.0%} of the weights are what they were, loss {loss.item():.2f}")
