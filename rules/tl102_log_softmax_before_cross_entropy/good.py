import torch
from torch import nn

torch.manual_seed(0)
inputs, labels = torch.randn(64, 8), torch.randint(0, 5, (64,))
model = nn.Linear(8, 5)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for step in range(50):
    optimizer.zero_grad()
    loss = criterion(model(inputs), labels)
    loss.backward()
    optimizer.step()
    if step in (0, 49):
        print(f"step {step}: loss {loss.item():.3f}")
