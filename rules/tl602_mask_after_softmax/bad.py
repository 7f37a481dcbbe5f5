"""Padding is masked after the softmax: the weights of real tokens depend on the padding."""

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
    weights = scores.softmax(dim=-1).masked_fill((tokens == 0)[:, None, :], 0.0)
    loss = nn.functional.cross_entropy(head((weights @ x).mean(dim=1)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"rows of weights sum to {weights.sum(dim=-1).min().item():.2f} and more")
