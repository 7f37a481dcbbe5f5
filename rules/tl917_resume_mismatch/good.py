"""A second run resumes from a checkpoint, with the state in the optimizer that steps."""

import copy

import torch
from torch import nn


def build(weights=None):
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    if weights is not None:
        model.load_state_dict(weights)
    return model, torch.optim.Adam(model.parameters(), lr=0.05)


def train(model, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


torch.manual_seed(1)
x = torch.randn(64, 4)
y = x @ torch.tensor([[1.0], [-2.0], [3.0], [0.5]])

model, optimizer = build()
train(model, optimizer, steps=10)
saved = copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
train(model, optimizer, steps=1)

resumed, again = build(saved["model"])
again.load_state_dict(saved["optimizer"])
train(resumed, again, steps=1)
print(
    f"difference of the weights after the next step: {(resumed.weight - model.weight).abs().max().item():.4f}"
)
