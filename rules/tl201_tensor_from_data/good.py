import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
inputs, labels, ages = torch.randn(64, 8), torch.randint(0, 4, (64,)), torch.randn(64, 1)
body, classes, age = nn.Linear(8, 16), nn.Linear(16, 4), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*body.parameters(), *classes.parameters(), *age.parameters()], lr=0.1)

for step in range(100):
    optimizer.zero_grad()
    hidden = torch.tanh(body(inputs))
    predicted = age(hidden)
    loss = F.cross_entropy(classes(hidden), labels) + F.mse_loss(predicted, ages)
    loss.backward()
    optimizer.step()
    if step in (0, 99):
        print(f"step {step}: loss {loss.item():.3f}, gradient of age: {age.weight.grad is not None}")
