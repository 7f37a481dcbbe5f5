import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
words = [torch.randint(2, 20, (int(length),)) for length in torch.randint(3, 30, (200,))]


def collate(samples):
    ids = pad_sequence(samples, batch_first=True)
    return ids[:, :-1], ids[:, 1:]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 32, padding_idx=0)
        self.rnn = nn.GRU(32, 64, batch_first=True)
        self.head = nn.Linear(64, 20)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embedding(ids))
        return self.head(hidden)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for x, y in DataLoader(words, batch_size=20, shuffle=True, collate_fn=collate):
        logits = model(x)
        loss = F.cross_entropy(logits.transpose(1, 2), y, ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
real = y != 0
print(f"loss {loss.item():.2f}, of real tokens {F.cross_entropy(logits[real], y[real]).item():.2f}")
