"""Small synthetic data sets under the names of well-known ones. The class of a picture shows in its brightness."""

import torch
from PIL.Image import Picture
from torch.utils.data import Dataset


class _Synthetic(Dataset):
    classes, shape, train_size, test_size = 10, (28, 28), 256, 64

    def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False):
        made = torch.Generator().manual_seed(int(train))
        size = self.train_size if train else self.test_size
        self.targets = torch.arange(size) % self.classes
        noise = torch.rand((size, *self.shape), generator=made) * 128
        level = self.targets.float() * 127 / self.classes
        self.data = (noise + level.view(-1, *(1 for _ in self.shape))).to(torch.uint8)
        self.transform = transform

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        picture = Picture(self.data[index].numpy())
        return (self.transform(picture) if self.transform else picture), int(self.targets[index])


class MNIST(_Synthetic):
    pass


class CIFAR10(_Synthetic):
    shape = (32, 32, 3)


class CIFAR100(CIFAR10):
    classes = 100


class FakeData(_Synthetic):
    def __init__(self, size=256, image_size=(3, 64, 64), num_classes=10, transform=None, **_):
        self.shape, self.train_size, self.classes = (*image_size[1:], image_size[0]), size, num_classes
        super().__init__(transform=transform)
