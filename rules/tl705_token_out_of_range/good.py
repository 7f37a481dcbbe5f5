"""The embedding has a row for the padding token."""

import torch
from torch import nn

torch.manual_seed(0)
words = 10
padding = words
tokens = torch.randint(0, words, (32, 6))
tokens[:, 4:] = padding
y = tokens[:, 0] % 2
embedding, head = nn.Embedding(words + 1, 16), nn.Linear(16, 2)
optimizer = torch.optim.Adam([*embedding.parameters(), *head.parameters()], lr=0.01)
steps = 0
try:
    for _ in range(100):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(embedding(tokens)[:, 0]), y)
        loss.backward()
        optimizer.step()
        steps += 1
except IndexError as error:
    print(error)
print(f"{steps} steps")
