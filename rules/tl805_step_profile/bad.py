"""The outputs of all steps are kept with their graphs: each step uses more memory than the previous one."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(512, 64), torch.randn(512, 1)
history = []
for _ in range(20):
    optimizer.zero_grad()
    output = model(x)
    loss = nn.functional.mse_loss(output, y)
    loss.backward(retain_graph=True)
    optimizer.step()
    history.append(output)
print(f"loss {loss.item():.3f}, {len(history)} outputs kept")
