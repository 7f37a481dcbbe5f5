"""Long trainings inside frameworks: a bug that begins late is found, and a sound training is left alone."""

from __future__ import annotations

import linecache
import runpy
import threading
from pathlib import Path
from typing import Any

import pytest

from trainlint.facts.seen.history import Milestone

pytest.importorskip("torch")

MODEL = """\
import torch
from torch import nn
torch.manual_seed(0)
data = [{"x": (x := torch.randn(8)), "labels": int(x[:4].argmax())} for _ in range(160)]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.drop, self.b = nn.Linear(8, 16), nn.Dropout(0.1), nn.Linear(16, 4)
        self.calls = 0
    def forward(self, x, labels):
        self.calls += 1
        out = self.b(self.drop(self.a(x).relu()))
        if BREAKS and self.calls > 60:
            out = out / (x[:, :1] * 0)
        return {"loss": nn.functional.cross_entropy(out, labels), "logits": out}
"""

ACCELERATE = f"""{MODEL}
import trainlint
from accelerate import Accelerator
accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
loader = torch.utils.data.DataLoader(data, 16, shuffle=True)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
with trainlint.watch(every=20) as watched:
    for epoch in range(12):
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(**batch)["loss"]
                accelerator.backward(loss)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
"""

TRANSFORMERS = f"""{MODEL}
from transformers import Trainer, TrainingArguments
from trainlint.integrations.transformers import TrainlintCallback
callback = TrainlintCallback(every=20)
arguments = TrainingArguments(
    "out", max_steps=60, per_device_train_batch_size=16, report_to=[], eval_strategy="steps", eval_steps=10,
    save_strategy="no", use_cpu=True, disable_tqdm=True,
)
trainer = Trainer(Net(), arguments, train_dataset=data, eval_dataset=data[:32], callbacks=[callback])
trainer.train()
watched = callback.watched
"""

LIGHTNING = f"""{MODEL}
import lightning
from trainlint.integrations.lightning import TrainlintCallback
class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()
    def training_step(self, batch, number):
        return self.net(**batch)["loss"]
    def validation_step(self, batch, number):
        self.log("validation", self.net(**batch)["loss"])
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)
callback = TrainlintCallback(every=20)
trainer = lightning.Trainer(
    max_steps=60, accelerator="cpu", logger=True, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, callbacks=[callback], default_root_dir="out",
)
loader = torch.utils.data.DataLoader(data, 16, shuffle=True)
trainer.fit(Module(), loader, torch.utils.data.DataLoader(data[:32], 16))
watched = callback.watched
"""

PROGRAMS = {"accelerate": ACCELERATE, "transformers": TRANSFORMERS, "lightning": LIGHTNING}


@pytest.mark.parametrize("breaks", [False, True], ids=["sound", "breaks"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_training_in_a_framework(
    name: str, breaks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("accelerate" if name == "transformers" else name)
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    script.write_text(f"BREAKS = {breaks}\n{PROGRAMS[name]}")
    linecache.checkcache()
    names: dict[str, Any] = {}
    thread = threading.Thread(target=lambda: names.update(runpy.run_path(str(script))))
    thread.start()
    thread.join()
    watched = names["watched"]
    assert watched.step == 60
    assert [one.step for one in watched.last.run.facts(Milestone)] == [2, 20, 40, 60]
    assert [one.code for one in watched.findings] == (["TL212"] if breaks else [])
    folder = Path("trainlint-reports" if name == "accelerate" else "out/trainlint-reports")
    assert (folder / "latest.html").exists() and (folder / "step-2.json").exists()
    if name == "lightning":
        (metrics,) = Path("out").glob("lightning_logs/*/metrics.csv")
        assert "trainlint/findings" in metrics.read_text()
