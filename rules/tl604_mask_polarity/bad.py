"""For `nn.MultiheadAttention`, True means masked out: here the real tokens are masked out."""

import torch
from torch import nn

torch.manual_seed(0)
PAD = 0
tokens = torch.randint(1, 12, (64, 16))
lengths = torch.randint(3, 8, (64, 1))
tokens[torch.arange(16)[None] >= lengths] = PAD
labels = tokens.max(dim=1).values
embed, head = nn.Embedding(12, 32), nn.Linear(32, 12)
attend = nn.MultiheadAttention(32, 4, batch_first=True)
parameters = [one for layer in (embed, attend, head) for one in layer.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01)
for _ in range(60):
    x = embed(tokens)
    mixed, _ = attend(x, x, x, key_padding_mask=tokens != PAD)
    logits = head(mixed[:, 0])
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
accuracy = (logits.argmax(dim=1) == labels).float().mean()
print(f"accuracy {accuracy.item():.2f}")
