import torch
from torch import nn

torch.manual_seed(0)
labels = torch.arange(500) % 50
inputs = torch.randn(50, 32)[labels] + 0.3 * torch.randn(500, 32)

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 50), nn.Softmax(dim=-1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for step in range(200):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = criterion(outputs, labels)
    loss.backward()
    optimizer.step()
    if step in (0, 199):
        accuracy = (outputs.argmax(dim=-1) == labels).float().mean().item()
        print(f"step {step}: loss {loss.item():.3f}, accuracy {accuracy:.2f}")
