"""The loss on held-out data rises, so the model only memorises these samples, and training stops."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(64, 64), torch.randint(2, (64,)))
held_out = TensorDataset(torch.randn(64, 64), torch.randint(2, (64,)))
loader = DataLoader(data, batch_size=16, shuffle=True)
validation = DataLoader(held_out, batch_size=64)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)

best = float("inf")
for epoch in range(50):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        (new,) = [nn.functional.cross_entropy(model(x), y).item() for x, y in validation]
    if new > best:
        break
    best = new
print(
    f"stopped in epoch {epoch + 1}: loss {loss.item():.3f}, on held-out data {best:.3f}, where guessing gives 0.693"
)
