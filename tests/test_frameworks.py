"""Programs under frameworks: a recording changes nothing, finds nothing where nothing is wrong, and names the model's modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.gloo import ended_by_itself
from tests.in_process import findings_of_run, recorded
from tests.warm import ROOT, Ran, python
from trainlint.judging import judged

FOLDER = ROOT / "fixtures/frameworks"
HUGGING_FACE = "transformers tokenizers datasets accelerate"

ALONE = [
    ("hf_causal.py", HUGGING_FACE, "transformer.h.0.attn.c_attn"),
    ("hf_classifier.py", HUGGING_FACE, "classifier"),
    ("hf_seq2seq.py", HUGGING_FACE, "decoder.block.0.layer.1.EncDecAttention.q"),
    ("trl_sft.py", f"{HUGGING_FACE} trl", "lm_head"),
    ("accelerate_loop.py", "accelerate", "body.0"),
    ("lightning_automatic.py", "lightning", "net.0"),
    ("lightning_manual.py", "lightning", "generator.0"),
    ("fabric_loop.py", "lightning", "conv"),
    ("peft_lora.py", "transformers tokenizers peft", "q_proj.lora_B.default"),
    ("peft_lora.py checkpointing", "transformers tokenizers peft", "q_proj.lora_B.default"),
    ("compiled.py eager", "", "layer.self_attn"),
    ("compiled.py aot_eager", "", "layer.self_attn"),
]
RANKS = [("ddp.py", "body"), ("fsdp2.py", "blocks.0.up")]


def run(command: list[str], folder: Path) -> list[str]:
    """The lines by which two runs of a program are compared."""
    done = ended_by_itself(lambda: started(command, folder))
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith(("weights", "next random", "right"))]


def started(command: list[str], folder: Path) -> Ran:
    variables = {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(folder),
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
    }
    return python(command, FOLDER, variables)


def compare(before: list[str], program: list[str], module: str, folder: Path) -> None:
    report = folder / "report"
    options = ["--no-cache", "--steps", "50", "--output-format", "text", "--output-file", str(report)]
    plain = run([*before, *program], folder)
    watched = run([*before, "-m", "trainlint", "run", *options, *program], folder)
    assert len(plain) >= 2
    assert watched == plain
    text = report.read_text()
    rows = [line.split() for line in text.splitlines()]
    assert any(row and (row[0] == module or row[0].endswith(f".{module}")) for row in rows), text
    assert "_forward_module" not in text
    assert "The program ended after" in text
    assert "Found nothing in" in text
    assert "bug in trainlint" not in text
    assert "whether gradients are cleared was not checked" not in text


@pytest.mark.parametrize(("program", "needs", "module"), ALONE, ids=[one[0] for one in ALONE])
def test_alone(program: str, needs: str, module: str, tmp_path: Path) -> None:
    for name in needs.split():
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    compare([], [*program.split(), str(tmp_path / "out")], module, tmp_path)


@pytest.mark.parametrize(("program", "module"), RANKS)
def test_ranks(program: str, module: str, tmp_path: Path) -> None:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    if not sys.platform.startswith("linux"):
        pytest.skip("gloo between processes is only tried on Linux")
    options = [
        "--no-cache",
        "--steps",
        "50",
        "--output-format",
        "text",
        "--output-file",
        str(tmp_path / "report"),
    ]
    plain = run([*torchrun, program], tmp_path)
    watched = run([*torchrun, "-m", "trainlint", "run", *options, program], tmp_path)
    assert len(plain) == 2
    assert watched == plain
    text = (tmp_path / "report").read_text()
    assert any(line.split()[:1] == [module] for line in text.splitlines()), text
    assert "Found nothing in" in text


CLOSURE = """
import torch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def closure():
    CLEAR
    loss = model(torch.ones(1, 2)).square().sum()
    loss.backward()
    return loss


for _ in range(4):
    optimizer.step(closure)
"""


def test_gradients_that_a_closure_clears_or_not(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(CLOSURE.replace("CLEAR", "optimizer.zero_grad()"))
    assert [one.cleared for one in recorded(script, steps=3).remains] == [True]
    assert "TL301" not in {one.code for one in findings_of_run(script)}
    script.write_text(CLOSURE.replace("CLEAR", "pass"))
    assert [one.cleared for one in recorded(script, steps=3).remains] == [False]
    assert "TL301" in {one.code for one in findings_of_run(script)}


@pytest.mark.parametrize(("clear", "found"), [("pass", True), ("optimizer.zero_grad()", False)])
def test_gradients_of_a_loop_out_of_sight(clear: str, found: bool, tmp_path: Path) -> None:
    loop = "def fit(closure, optimizer):\n    for _ in range(4):\n        optimizer.step(closure)\n"
    body = CLOSURE.partition("for _ in range")[0].replace("CLEAR", clear)
    script = tmp_path / "program.py"
    script.write_text(f"{body}\nexec({loop!r})\nfit(closure, optimizer)\n")
    codes = {one.code for one in judged(recorded(script, steps=2), {}).findings}
    assert ("TL301" in codes) is found


WARM_UP = """
import torch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(step / 10, 1))
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).square().sum().backward()
    optimizer.step()
    if FOLLOWED:
        schedule.step()
"""


@pytest.mark.parametrize(("rate", "found"), [("0.0", True), ("1e-3", False)])
@pytest.mark.parametrize("followed", ["True", "False"])
def test_a_rate_of_0_that_a_schedule_of_trainer_multiplies(
    rate: str, found: bool, followed: str, tmp_path: Path
) -> None:
    script = tmp_path / "program.py"
    script.write_text(WARM_UP.replace("RATE", rate).replace("FOLLOWED", followed))
    assert ("TL315" in {one.code for one in findings_of_run(script)}) is found
