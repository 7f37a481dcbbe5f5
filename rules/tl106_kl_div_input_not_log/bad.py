import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
inputs = torch.randn(64, 8)
teacher = F.softmax(3 * torch.randn(64, 5), dim=-1)
student = nn.Linear(8, 5)
optimizer = torch.optim.SGD(student.parameters(), lr=0.5)

for step in range(100):
    optimizer.zero_grad()
    loss = F.kl_div(F.softmax(student(inputs), dim=-1), teacher, reduction="batchmean")
    loss.backward()
    optimizer.step()
    if step in (0, 99):
        print(f"step {step}: loss {loss.item():.3f}")  # a divergence is never negative
