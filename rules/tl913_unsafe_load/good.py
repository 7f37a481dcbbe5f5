"""A checkpoint from someone else that is rejected."""

import io
import pickle

import torch
from torch import nn


class Surprise:
    def __reduce__(self):
        return print, ("code from the file has run",)


def received():
    """A file from elsewhere."""
    buffer = io.BytesIO()
    torch.save({"weight": torch.ones(1, 2), "bias": torch.zeros(1), "more": Surprise()}, buffer)
    return io.BytesIO(buffer.getvalue())


model = nn.Linear(2, 1)
try:
    model.load_state_dict(torch.load(received(), map_location="cpu", weights_only=True))
except pickle.UnpicklingError:
    print("refused")
model.eval()
