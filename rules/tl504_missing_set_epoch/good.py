"""Three epochs of one of two ranks, each in a different order."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

torch.manual_seed(0)
x = torch.arange(16.0).unsqueeze(1)
data = TensorDataset(x, 2 * x)
sampler = DistributedSampler(data, num_replicas=2, rank=0, shuffle=True)
loader = DataLoader(data, batch_size=4, sampler=sampler)
held_out = TensorDataset(x + 0.5, 2 * x + 1)
still = DistributedSampler(held_out, num_replicas=2, rank=0, shuffle=False)
held_out_loader = DataLoader(held_out, batch_size=4, sampler=still)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for epoch in range(3):
    sampler.set_epoch(epoch)
    still.set_epoch(epoch)
    order = []
    for inputs, targets in loader:
        order += inputs.flatten().int().tolist()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    with torch.no_grad():
        wrong = sum(nn.functional.mse_loss(model(inputs), targets) for inputs, targets in held_out_loader)
    print(f"epoch {epoch}: {order}, held out {wrong:.2f}")
