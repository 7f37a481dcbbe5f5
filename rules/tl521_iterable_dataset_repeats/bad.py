"""A stream that each of two workers goes through from its beginning to its end."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        for number in range(self.count):
            yield torch.tensor([float(number)])


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(Numbers(32), batch_size=4, num_workers=2)
    seen = 0
    for x in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), 2 * x).backward()
        optimizer.step()
        seen += len(x)
    print(f"an epoch over 32 numbers has {seen}")
