import torch
from torch import nn

torch.manual_seed(0)
labels = torch.arange(64) % 4
inputs = torch.randn(4, 8)[labels] + 0.3 * torch.randn(64, 8)
model = nn.Linear(8, 4)
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for step in range(100):
    optimizer.zero_grad()
    loss = criterion(model(inputs), labels)
    loss.backward()
    optimizer.step()
    if step in (0, 99):
        print(f"step {step}: loss {loss.item():.3f}, largest weight {model.weight.abs().max().item():.1f}")
