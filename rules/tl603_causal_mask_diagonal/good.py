"""The causal mask shows each token itself and earlier tokens, and no more."""

import torch
from torch import nn

torch.manual_seed(0)
tokens = torch.randint(0, 20, (64, 12))
inputs, targets = tokens[:, :-1], tokens[:, 1:]
embed, place = nn.Embedding(20, 64), nn.Embedding(11, 64)
query, key, value, head = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 20)
parameters = [one for layer in (embed, place, query, key, value, head) for one in layer.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01)
visible = torch.tril(torch.ones(11, 11))
for _ in range(40):
    x = embed(inputs) + place(torch.arange(11))
    scores = query(x) @ key(x).transpose(1, 2) / 8
    scores = scores.masked_fill(visible == 0, float("-inf"))
    mixed = scores.softmax(dim=-1) @ value(x)
    loss = nn.functional.cross_entropy(head(mixed).flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss on random tokens {loss.item():.2f}, where guessing gives 3.00")
