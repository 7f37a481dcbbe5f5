"""A causal mask hides later tokens."""

import torch
from torch import nn

torch.manual_seed(0)


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 32)
        self.place = nn.Parameter(torch.randn(12, 32))
        self.attend = nn.MultiheadAttention(32, 4, batch_first=True)
        self.register_buffer("future", nn.Transformer.generate_square_subsequent_mask(12))
        self.head = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8))

    def forward(self, tokens):
        x = self.embed(tokens) + self.place
        return self.head(x + self.attend(x, x, x, attn_mask=self.future, need_weights=False)[0])


model = LanguageModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(200):
    batch = torch.randint(0, 8, (32, 13))
    logits = model(batch[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(
    f"loss on random tokens {loss.item():.3f}, where the best possible value is {torch.tensor(8.0).log():.3f}"
)
