"""Only the past is used for the scaling."""

import torch
from torch import nn

torch.manual_seed(0)
price = torch.cumsum(torch.randn(400, 4), dim=0)
known = price[:300]
scaled = (price - known.mean(dim=0)) / known.std(dim=0)
past, future = scaled[:300], scaled[300:]
model = nn.Linear(4, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(4):
    model.train()
    for start in range(0, 290, 50):
        optimizer.zero_grad()
        batch = past[start : start + 50]
        loss = nn.functional.mse_loss(model(batch[:-1]), batch[1:])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        held_out = nn.functional.mse_loss(model(future[:-1]), future[1:])
print(f"mean of the scaled past {past.mean():.2f}, of the future {future.mean():.2f}, loss {held_out:.2f}")
