import torch
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(64, 8)
targets = (inputs.sum(dim=-1, keepdim=True) > 0).float()
model = nn.Linear(8, 1)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for step in range(50):
    optimizer.zero_grad()
    loss = criterion(model(inputs), targets)
    loss.backward()
    optimizer.step()
    if step in (0, 49):
        print(f"step {step}: loss {loss.item():.3f}")
