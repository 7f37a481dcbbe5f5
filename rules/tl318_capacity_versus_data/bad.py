"""64 random labels and 82,946 parameters: the training loss falls to 0, and nothing is evaluated on other data."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(64, 64), torch.randint(2, (64,)))
loader = DataLoader(data, batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(50):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
new = nn.functional.cross_entropy(model(torch.randn(1000, 64)), torch.randint(2, (1000,)))
print(f"loss {loss.item():.3f}, on new data {new.item():.3f}, where guessing gives 0.693")
