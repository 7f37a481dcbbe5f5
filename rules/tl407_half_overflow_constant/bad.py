"""A mask of -1e9 in attention scores that autocast has cast to float16, whose maximum is 65,504."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.width = width

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.width**0.5
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(mask, -1e9)
        return scores.softmax(dim=-1) @ self.value(x)


torch.manual_seed(0)
model = nn.Sequential(Attention(16), nn.Linear(16, 4))
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.amp.GradScaler("cpu")
x, y = torch.randn(8, 10, 16), torch.randint(0, 4, (8, 10))
steps = 0
try:
    for _ in range(5):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        steps += 1
except RuntimeError as error:
    print(error)
print(f"{steps} steps")
