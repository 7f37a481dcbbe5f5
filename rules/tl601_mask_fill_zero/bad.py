"""Padding is filled with 0 before the softmax, and gets a large part of the attention."""

import torch
from torch import nn

torch.manual_seed(0)
tokens = torch.randint(1, 12, (64, 16))
lengths = torch.randint(3, 8, (64, 1))
tokens[torch.arange(16)[None] >= lengths] = 0
labels = tokens.max(dim=1).values
embed, query, key, head = nn.Embedding(12, 32), nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 12)
parameters = [one for layer in (embed, query, key, head) for one in layer.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01)
for _ in range(30):
    x = embed(tokens)
    scores = query(x) @ key(x).transpose(1, 2) / 32**0.5
    scores = scores.masked_fill((tokens == 0)[:, None, :], 0)
    weights = scores.softmax(dim=-1)
    loss = nn.functional.cross_entropy(head((weights @ x).mean(dim=1)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
on_padding = (weights * (tokens == 0)[:, None, :]).sum(dim=-1).mean()
print(f"attention that falls on padding: {on_padding.item():.2f}")
