import zlib

import numpy as np


class Picture:
    def __init__(self, pixels):
        self.pixels = pixels
        self.size = pixels.shape[1::-1]

    def __array__(self, dtype=None, copy=None):
        return self.pixels

    def convert(self, _):
        return self

    def copy(self):
        return Picture(self.pixels.copy())

    def split(self):
        return [Picture(self.pixels[..., channel]) for channel in range(3)]

    def resize(self, size, *_, **__):
        rows = np.arange(size[1]) * self.pixels.shape[0] // size[1]
        columns = np.arange(size[0]) * self.pixels.shape[1] // size[0]
        return Picture(self.pixels[rows][:, columns])


def open(path):
    draw = np.random.default_rng(zlib.crc32(str(path).encode()))
    return Picture(draw.integers(0, 256, (64, 64, 3), dtype=np.uint8))
