"""The optimizer does not go through `prepare`: it steps on every batch of what is to be accumulated."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(dim=1, keepdim=True)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)
model, loader = accelerator.prepare(model, loader)
moved = 0
for inputs, targets in loader:
    with accelerator.accumulate(model):
        before = model.weight.detach().clone()
        accelerator.backward(nn.functional.mse_loss(model(inputs), targets))
        optimizer.step()
        optimizer.zero_grad()
        moved += not torch.equal(before, model.weight)
print(f"16 batches changed the model {moved} times, where 4 were wanted")
