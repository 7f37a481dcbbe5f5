"""A model that is compiled in place keeps the names of its weights."""

import io

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
plain = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
model.compile(backend="eager")
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
loss = nn.functional.mse_loss(model(x), x.sum(dim=1, keepdim=True))
loss.backward()
optimizer.step()
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
state = torch.load(file, weights_only=True)
missing = [name for name in plain.state_dict() if name not in state]
print(f"{len(missing)} of {len(plain.state_dict())} weights are not in the file")
