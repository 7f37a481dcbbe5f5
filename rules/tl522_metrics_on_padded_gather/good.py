"""Two processes evaluate ten samples, and what fills up the last batch is dropped."""

import os
import socket

import torch
import torch.multiprocessing as mp
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import CatMetric


def evaluate(rank, port):
    os.environ.update(
        MASTER_ADDR="localhost", MASTER_PORT=str(port), RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2"
    )
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    data = TensorDataset(torch.randn(10, 4), torch.zeros(10, dtype=torch.long))
    model, loader = accelerator.prepare(model, DataLoader(data, batch_size=4))
    model.eval()
    metric = CatMetric(sync_on_compute=False)
    for inputs, targets in loader:
        with torch.no_grad():
            predictions = model(inputs).argmax(dim=1)
        predictions, targets = accelerator.gather_for_metrics((predictions, targets))
        metric.update(predictions)
    if accelerator.is_main_process:
        print(f"the metric of 10 samples counts {len(metric.compute())}", flush=True)
    accelerator.end_training()


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        free = probe.getsockname()[1]
    mp.spawn(evaluate, args=(free,), nprocs=2)
