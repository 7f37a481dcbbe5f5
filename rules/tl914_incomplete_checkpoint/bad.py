"""A run that resumes with a new Adam: the loss rises."""

import tempfile
from pathlib import Path

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = torch.randn(256, 1)
path = Path(tempfile.mkdtemp()) / "last.pt"


def train(epochs):
    model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    start, losses = 0, []
    if path.exists():
        checkpoint = torch.load(path)
        model.load_state_dict(checkpoint["model"])
        start = checkpoint["epoch"] + 1
    for epoch in range(start, epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        torch.save({"model": model.state_dict(), "epoch": epoch}, path)
    return losses


before, after = train(200)[-1], train(220)[:10]
print(f"loss {before:.4f} before, up to {max(after):.4f} after the program was started again")
