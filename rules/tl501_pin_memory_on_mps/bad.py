"""Memory is pinned for every device; only CUDA uses it, and the others warn."""

import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
loader = DataLoader(data, batch_size=16, shuffle=True, pin_memory=True)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
print(f"device {device}, {len(caught)} warnings", *[str(one.message) for one in caught], sep="\n")
