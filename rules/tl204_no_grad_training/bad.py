import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
inputs, targets = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

try:
    for step in range(50):
        optimizer.zero_grad()
        with torch.no_grad():
            predictions = model(inputs)
        loss = F.mse_loss(predictions, targets)
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}")
except RuntimeError as error:
    print(f"RuntimeError: {error}")
