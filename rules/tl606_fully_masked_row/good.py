"""Every query attends to itself."""

import torch
from torch import nn

torch.manual_seed(0)
tokens = torch.randint(0, 20, (8, 9))
future = torch.triu(torch.ones(8, 8, dtype=torch.bool), diagonal=1)


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 16), nn.Linear(16, 20)

    def forward(self, tokens):
        x = self.embed(tokens)
        scores = x @ x.transpose(1, 2) / 4
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.head(x + weights @ x)


model = Attend()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(20):
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
