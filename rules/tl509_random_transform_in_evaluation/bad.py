"""The evaluation images are flipped at random: a different score each time."""

import sys
import types

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, picture):
        for step in self.steps:
            picture = step(picture)
        return picture


class Flip:
    def __call__(self, picture):
        return picture.flip(-1) if torch.rand(1) < 0.5 else picture


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, picture):
        return (picture - self.mean) / self.std


try:
    import torchvision  # noqa: F401
except ImportError:  # what is used of it below
    made = types.SimpleNamespace(Compose=Compose, RandomHorizontalFlip=Flip, Normalize=Normalize)
    sys.modules["torchvision"] = types.SimpleNamespace(transforms=made)


class Sides(Dataset):
    """Which half of the picture is bright?"""

    def __init__(self, count, transform):
        self.y = torch.arange(count) % 2
        self.x = torch.zeros(count, 1, 4, 4)
        self.x[self.y == 0, :, :, :2] = 1
        self.x[self.y == 1, :, :, 2:] = 1
        self.transform = transform

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.transform(self.x[index]), self.y[index]


def main():
    from torchvision import transforms

    torch.manual_seed(0)
    plain = transforms.Compose([transforms.Normalize(0.5, 0.5)])
    flipped = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.Normalize(0.5, 0.5)])
    train_loader = DataLoader(Sides(64, plain), batch_size=16, shuffle=True)
    test_loader = DataLoader(Sides(64, flipped), batch_size=16)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in train_loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    for _ in range(2):
        right = 0
        with torch.no_grad():
            for x, y in test_loader:
                right += (model(x).argmax(dim=1) == y).sum().item()
        print(f"accuracy {right / 64:.2f}")


main()
