"""The file was saved from a wrapped model, so every key has a prefix: nothing is loaded, silently."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(128, 4)
y = x.sum(dim=1, keepdim=True)
trained = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
state = {f"module.{name}": value for name, value in trained.state_dict().items()}
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
model.load_state_dict(state, strict=False)
same = all(torch.equal(one, other) for one, other in zip(model.parameters(), trained.parameters()))
print(f"the weights are those of the file: {same}")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
