"""The axes of samples and steps are transposed."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(128, 4, 4)
y = x[:, :, 0].sum(dim=1).gt(0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(4, 16), nn.Linear(16, 2)

    def forward(self, x):
        time_first = x.transpose(0, 1)
        return self.head(self.rnn(time_first)[0][-1])


model = Recurrent()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
for _ in range(12):
    right = 0
    for inputs, labels in loader:
        logits = model(inputs)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((logits.argmax(dim=1) == labels).sum())
print(f"accuracy {right / 128:.2f}")
