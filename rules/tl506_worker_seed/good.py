"""PyTorch seeds each worker process differently, and NumPy with it."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    """Zeros, with noise of its own for every sample."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor([np.random.rand()], dtype=torch.float32)


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Noisy(), batch_size=2, shuffle=True, num_workers=2)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        print([round(value, 3) for value in batch.flatten().tolist()])
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
