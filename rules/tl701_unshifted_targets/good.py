import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
text = "the quick brown fox jumps over the lazy dog. " * 20
letters = sorted(set(text))
data = torch.tensor([letters.index(letter) for letter in text])


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(size, 32)
        self.rnn = nn.LSTM(32, 64, batch_first=True)
        self.head = nn.Linear(64, size)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embedding(ids))
        return self.head(hidden)


model = Net(len(letters))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(60):
    starts = torch.randint(len(data) - 32, (16,))
    x = torch.stack([data[i : i + 32] for i in starts])
    y = torch.stack([data[i + 1 : i + 33] for i in starts])
    loss = F.cross_entropy(model(x).transpose(1, 2), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

written = data[:10].tolist()
with torch.no_grad():
    for _ in range(40):
        written.append(int(model(torch.tensor([written]))[0, -1].argmax()))
print(f"loss {loss.item():.4f}; it writes: {''.join(letters[one] for one in written)!r}")
