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
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for epoch in range(3):
    sampler.set_epoch(epoch)
    order = []
    for inputs, targets in loader:
        order += inputs.flatten().int().tolist()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    print(f"epoch {epoch}: {order}")
