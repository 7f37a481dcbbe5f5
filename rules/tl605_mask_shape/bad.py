"""A padding mask [batch, keys] meets scores [batch, queries, keys]: batch and queries are both 8, so nothing raises."""

import torch
from torch import nn

torch.manual_seed(0)
tokens = torch.randint(1, 20, (8, 8))
lengths = torch.randint(2, 8, (8, 1))
tokens = tokens.masked_fill(torch.arange(8) >= lengths, 0)
labels = torch.randint(0, 2, (8,))


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 16), nn.Linear(16, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        scores = x @ x.transpose(1, 2) / 4
        scores = scores.masked_fill(tokens == 0, -1e9)
        self.weights = scores.softmax(dim=-1)
        return self.head((self.weights @ x).mean(dim=1))


model = Attend()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(tokens), labels).backward()
    optimizer.step()
on_padding = (model.weights * (tokens == 0)[:, None, :]).sum(dim=-1).mean().item()
print(f"attention on padding: {on_padding:.2f}")
