"""The samples are stored class by class, and the loader does not shuffle them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Blobs(Dataset):
    """Three classes of points, one after the other."""

    def __init__(self, each=200):
        generator = torch.Generator().manual_seed(0)
        centres = torch.tensor([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
        self.y = torch.arange(3).repeat_interleave(each)
        self.x = centres[self.y] + 1.0 * torch.empty(3 * each, 2).normal_(generator=generator)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


torch.manual_seed(0)
data = Blobs()
loader = DataLoader(data, batch_size=20)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
for _ in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    accuracy = (model(data.x).argmax(dim=1) == data.y).float().mean()
print(f"accuracy {accuracy:.2f}")
