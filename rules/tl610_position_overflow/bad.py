"""A token is prepended to each sequence, and the position table has no row for the last one."""

import torch
from torch import nn

torch.manual_seed(0)
LENGTH = 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place, self.head = nn.Embedding(10, 16), nn.Embedding(LENGTH, 16), nn.Linear(16, 10)

    def forward(self, tokens):
        return self.head(self.embed(tokens) + self.place(torch.arange(LENGTH + 1)))


model = Model()
optimizer = torch.optim.Adam(model.parameters())
tokens = torch.randint(1, 10, (4, LENGTH))
inputs = torch.cat([torch.zeros(4, 1, dtype=torch.long), tokens], dim=1)
try:
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(inputs)[:, :-1].flatten(0, 1), tokens.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.2f}")
except IndexError as error:
    print(f"no step was taken: {error}")
