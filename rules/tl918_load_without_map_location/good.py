"""The tensors of a checkpoint are loaded to the device of this program."""

import io

import torch
from torch import nn

buffer = io.BytesIO()
torch.save(nn.Linear(2, 1).state_dict(), buffer)
buffer.seek(0)
model = nn.Linear(2, 1)
model.load_state_dict(torch.load(buffer, map_location="cpu", weights_only=True))
model.eval()
print("loaded, as it was saved on", model.weight.device)
