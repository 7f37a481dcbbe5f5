"""The prefix is removed, and the keys that do not match are checked."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(128, 4)
y = x.sum(dim=1, keepdim=True)
trained = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
state = {f"module.{name}": value for name, value in trained.state_dict().items()}
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
state = {name.removeprefix("module."): value for name, value in state.items()}
keys = model.load_state_dict(state, strict=False)
assert not keys.missing_keys, keys.missing_keys
same = all(torch.equal(one, other) for one, other in zip(model.parameters(), trained.parameters()))
print(f"the weights are those of the file: {same}")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
