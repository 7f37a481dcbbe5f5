"""The deprecated names of mixed precision still work, and warn each time."""

import warnings

import torch
from torch import nn

torch.manual_seed(0)
use_cuda = torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(64, 4, device=device), torch.randn(64, 1, device=device)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    scaler = torch.cuda.amp.GradScaler(enabled=use_cuda)
    for _ in range(3):
        optimizer.zero_grad()
        with torch.cuda.amp.autocast(enabled=use_cuda):
            loss = nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
deprecations = [str(one.message) for one in caught if one.category is FutureWarning]
print(f"{len(deprecations)} deprecation warnings", *deprecations[:1], sep="\n")
