from types import SimpleNamespace

import torch


class Field:
    pass


class Dataset(list):
    def __init__(self, examples, fields):
        super().__init__(examples)
        self.fields = fields


class BucketIterator:
    """Batches of examples, padded to their longest, `(length, batch)`."""

    def __init__(self, dataset, batch_size, device=None, train=False):
        self.dataset, self.batch_size = dataset, batch_size

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        for start in range(0, len(self.dataset), self.batch_size):
            batch = self.dataset[start : start + self.batch_size]
            yield SimpleNamespace(**{side: self._padded(side, batch) for side in ("src", "trg")})

    def _padded(self, side, batch):
        words = self.dataset.fields[side].vocab.stoi
        rows = [torch.tensor([words[word] for word in getattr(one, side)]) for one in batch]
        return torch.nn.utils.rnn.pad_sequence(rows, padding_value=words["<blank>"])
