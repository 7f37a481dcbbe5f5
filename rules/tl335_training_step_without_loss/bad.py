"""Every second batch ends without `return`, so it is skipped."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        inputs, targets = batch
        if batch_idx % 2 == 0:
            return nn.functional.mse_loss(self.net(inputs), targets)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.1)


L.seed_everything(0, verbose=False)
x = torch.randn(256, 4)
loader = DataLoader(TensorDataset(x, x.sum(dim=1, keepdim=True)), batch_size=16, shuffle=True)
net = Net()
trainer = L.Trainer(
    accelerator="cpu",
    max_epochs=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
used = []
net.net.weight.register_hook(used.append)
trainer.fit(net, loader)
print(f"of 16 batches, {len(used)} had a backward")
