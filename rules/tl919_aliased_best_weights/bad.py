"""The best weights are kept by reference, so the last ones are restored."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(32, 8)
y = torch.randn(32, 1)
x_valid, y_valid = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
best, best_loss = None, float("inf")
for _ in range(30):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(x_valid), y_valid).item()
    if loss < best_loss:
        best, best_loss = model.state_dict(), loss
model.load_state_dict(best)
with torch.no_grad():
    restored = nn.functional.mse_loss(model(x_valid), y_valid).item()
print(f"best validation loss {best_loss:.3f}, restored {restored:.3f}")
