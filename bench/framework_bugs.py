"""Bugs put into the programs of `fixtures/frameworks/`: which a check finds, and which a run. Writes docs/frameworks.md.

    python bench/framework_bugs.py [--only WORD] [--write]

Needs the frameworks: `pip install -e '.[dev-frameworks]'`. A bug counts as found by the source if `check` reports one
of its rules at the level of a warning or an error, and by a run if `run` reports one as confirmed or observed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "fixtures/frameworks"
PAGE = ROOT / "docs/frameworks.md"
MARKS = ("<!-- bugs: begin -->", "<!-- bugs: end -->")
RANKS = ("ddp.py", "fsdp2.py")

LM_COLLATOR = "DataCollatorForLanguageModeling(tokenizer, mlm=False)"
COLLATE = """    def collate(rows):
        batch = tokenizer.pad([{"input_ids": row["input_ids"]} for row in rows], return_tensors="pt")
        LABELS
        return batch

    arguments = TrainingArguments("""
SHIFTED = 'batch["labels"] = batch["input_ids"].roll(-1, 1).masked_fill(batch["attention_mask"] == 0, -100)'
IGNORED = 'batch["labels"] = batch["input_ids"].new_full(batch["input_ids"].shape, -100)'


class Bug(NamedTuple):
    """A change of a program that makes it wrong: pairs of old and new text, and the rules that speak of it."""

    file: str
    title: str
    changes: tuple[tuple[str, str], ...]
    codes: str
    arguments: str = ""


def bug(
    file: str, title: str, old: str, new: str, codes: str, *more: tuple[str, str], arguments: str = ""
) -> Bug:
    return Bug(file, title, ((old, new), *more), codes, arguments)


def with_collator(title: str, labels: str, codes: str) -> Bug:
    before = "    arguments = TrainingArguments("
    return bug(
        "hf_causal.py", title, LM_COLLATOR, "collate", codes, (before, COLLATE.replace("LABELS", labels))
    )


BUGS = (
    with_collator("all labels ignored, in a collator", IGNORED, "TL710"),
    with_collator("labels shifted for a model that shifts", SHIFTED, "TL702"),
    bug("hf_causal.py", "learning rate 0", "learning_rate=1e-3", "learning_rate=0.0", "TL315"),
    bug("hf_classifier.py", "softmax before cross-entropy", "outputs.logits, labels", "outputs.logits.softmax(-1), labels", "TL101"),
    bug("hf_classifier.py", "loss of detached logits", "outputs.logits, labels, weight=weights)",
        "outputs.logits.detach(), labels, weight=weights).requires_grad_()", "TL202 TL203 TL210"),
    bug("hf_classifier.py", "no attention mask", "model(**inputs)", 'model(input_ids=inputs["input_ids"])', "TL714"),
    bug("hf_seq2seq.py", "padding counts in the loss", "(tokenizer, model=model)",
        "(tokenizer, model=model, label_pad_token_id=tokenizer.pad_token_id)", "TL703"),
    bug("hf_seq2seq.py", "all labels ignored", "        return batch",
        '        batch["labels"] = [[-100] * len(row) for row in batch["labels"]]\n        return batch', "TL710"),
    bug("hf_seq2seq.py", "learning rate 0", "learning_rate=1e-3", "learning_rate=0.0", "TL315"),
    bug("trl_sft.py", "updates lost to rounding", "model = LlamaForCausalLM(config)",
        "model = LlamaForCausalLM(config).bfloat16()", "TL421", ("learning_rate=1e-3", "learning_rate=1e-6")),
    bug("trl_sft.py", "learning rate 0", "learning_rate=1e-3", "learning_rate=0.0", "TL315"),
    bug("trl_sft.py", "embedding frozen at zero", "    rows = [",
        "    model.model.embed_tokens = model.model.embed_tokens.from_pretrained("
        "model.model.embed_tokens.weight.detach() * 0, freeze=True)\n    rows = [", "TL211 TL907 TL210"),
    bug("accelerate_loop.py", "backward outside of the accelerator", "accelerator.backward(loss)", "loss.backward()", "TL330"),
    bug("accelerate_loop.py", "softmax in the model", "self.head(self.body(x))", "self.head(self.body(x)).softmax(-1)", "TL101"),
    bug("accelerate_loop.py", "no accumulate", "with accelerator.accumulate(model):", "if True:", "TL332"),
    bug("lightning_automatic.py", "softmax in the model", "nn.Linear(32, 3))", "nn.Linear(32, 3), nn.Softmax(-1))", "TL101"),
    bug("lightning_automatic.py", "loss rebuilt from its value", "loss = self.criterion(logits, y)",
        "loss = torch.tensor(self.criterion(logits, y).item(), requires_grad=True)", "TL201 TL202 TL203 TL210"),
    bug("lightning_automatic.py", "schedule per epoch", ', "interval": "step"', "", "TL333"),
    bug("lightning_automatic.py", "gradients never cleared", "    def configure_optimizers",
        "    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):\n        pass\n\n    def configure_optimizers", "TL301"),
    bug("lightning_manual.py", "gradients never cleared", "        g_opt.zero_grad()\n", "", "TL301 TL334"),
    bug("lightning_manual.py", "generator without gradients", "judged = self.discriminator(fake)",
        "judged = self.discriminator(fake.detach())", "TL210 TL202", ("self.toggle_optimizer(g_opt)", "pass"),
        ("self.untoggle_optimizer(g_opt)", "pass")),
    bug("lightning_manual.py", "sigmoid before BCEWithLogits", "nn.Linear(16, 1))", "nn.Linear(16, 1), nn.Sigmoid())", "TL104"),
    bug("fabric_loop.py", "gradients never cleared", "            optimizer.zero_grad()\n", "", "TL301"),
    bug("fabric_loop.py", "evaluation mode", "model.train()", "model.eval()", "TL310"),
    bug("fabric_loop.py", "clipping after the step", "            optimizer.step()\n", "", "TL313",
        ("            fabric.clip", "            optimizer.step()\n            fabric.clip")),
    bug("peft_lora.py", "optimizer of what is frozen",
        "trainable = [one for one in model.parameters() if one.requires_grad]",
        'trainable = [one for name, one in model.named_parameters() if "lora" not in name]', "TL309 TL315"),
    bug("peft_lora.py", "labels shifted for a model that shifts", 'batch["input_ids"].masked_fill',
        'batch["input_ids"].roll(-1, 1).masked_fill', "TL702"),
    bug("peft_lora.py", "padding counts in the loss", '.masked_fill(batch["attention_mask"] == 0, -100)', ".clone()", "TL703"),
    bug("peft_lora.py", "checkpointing cuts the adapters", "        model.enable_input_require_grads()\n", "", "TL337 TL210 TL216",
        ('        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})', "        pass"),
        ("model = get_peft_model(model, adapters)",
         "model = get_peft_model(model, adapters)\n    model.base_model.model.lm_head.requires_grad_(True)\n"
         '    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})\n'
         "    model.base_model.model.disable_input_require_grads()"), arguments="checkpointing"),
    bug("ddp.py", "no set_epoch", "        sampler.set_epoch(epoch)\n", "", "TL504"),
    bug("ddp.py", "ranks read the same batches", ", sampler=sampler)", ", shuffle=True)", "TL520"),
    bug("ddp.py", "gradients never cleared", "            optimizer.zero_grad()\n", "", "TL301"),
    bug("fsdp2.py", "optimizer before sharding", "    model = Net()\n",
        "    model = Net()\n    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)\n", "TL338",
        ("    fully_shard(model, mesh=mesh)\n    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)",
         "    fully_shard(model, mesh=mesh)")),
    bug("fsdp2.py", "gradients never cleared", "            optimizer.zero_grad()\n", "", "TL301"),
    bug("fsdp2.py", "softmax in the model", "return self.head(x)", "return self.head(x).softmax(-1)", "TL101"),
    bug("compiled.py", "softmax in the model", "is_causal=True))", "is_causal=True)).softmax(-1)", "TL101", arguments="eager"),
    bug("compiled.py", "targets are not shifted", "ids[:, 1:]", "ids[:, :-1]", "TL701", arguments="eager"),
    bug("compiled.py", "evaluation mode", "    compiled = ", "    model.eval()\n    compiled = ", "TL310", arguments="eager"),
)  # fmt: skip


class Outcome(NamedTuple):
    bug: Bug
    source: bool
    run: bool
    note: str


def codes_of(report: Path, *verdicts: str) -> set[str]:
    if not report.exists():
        return set()
    found = json.loads(report.read_text())["findings"]
    return {
        one["code"] for one in found if one["level"] != "info" if not verdicts or one["verdict"] in verdicts
    }


def tried(one: Bug) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "programs"
        shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        text = (folder / one.file).read_text()
        for old, new in one.changes:
            if old not in text:
                raise SystemExit(f"{one.file}: {one.title}: {old!r} is not there")
            text = text.replace(old, new)
        (folder / one.file).write_text(text)
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": f"{name}/cache",
            "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1",
        }  # fmt: skip

        def call(command: list[str]) -> str:
            done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True,
                                  text=True, timeout=300, check=False)  # fmt: skip
            return done.stderr

        report = ["--no-cache", "--output-format", "json", "--output-file"]
        call(["-m", "trainlint", "check", *report, f"{name}/check", one.file])
        before = (
            "-m torch.distributed.run --standalone --nproc_per_node 2".split() if one.file in RANKS else []
        )
        arguments = [one.file, *one.arguments.split(), f"{name}/out"]
        said = call([*before, "-m", "trainlint", "run", "--steps", "2", *report, f"{name}/run", *arguments])
        wanted = set(one.codes.split())
        by_source = codes_of(Path(name) / "check")
        by_run = codes_of(Path(name) / "run", "confirmed", "observed")
        note = ", ".join(sorted((by_source | by_run) - wanted))
        if not (Path(name) / "run").exists():
            note = "no report: " + (said.strip().splitlines() or [""])[-1]
        return Outcome(one, bool(wanted & by_source), bool(wanted & by_run), note)


def table(outcomes: list[Outcome]) -> str:
    lines = ["| program | bug | rules | source | run |", "|---|---|---|---|---|"]
    for one, source, run, _ in outcomes:
        marks = ["yes" if found else "no" for found in (source, run)]
        lines.append(
            f"| `{one.file}` | {one.title} | {one.codes.replace(' ', ', ')} | {marks[0]} | {marks[1]} |"
        )
    count = len(outcomes)
    shares = [
        f"{sum(values)} of {count} ({sum(values) / count:.0%})"
        for values in (
            [one.source for one in outcomes],
            [one.run for one in outcomes],
            [one.source or one.run for one in outcomes],
        )
    ]
    return f"By the source {shares[0]}, by a run {shares[1]}, by either {shares[2]}.\n\n" + "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--only", default="", help="bugs of files, titles or rules with this word")
    options.add_argument("--write", action="store_true", help="write the table into docs/frameworks.md")
    chosen = options.parse_args()
    bugs = [one for one in BUGS if chosen.only in f"{one.file} {one.title} {one.codes}"]
    outcomes = []
    with ThreadPoolExecutor(2) as threads:
        for one in threads.map(tried, bugs):
            print("check" if one.source else "  -  ", "run" if one.run else " - ", one.bug.file, one.bug.title,
                  f"[{one.bug.codes}]", f"({one.note})" if one.note else "", flush=True)  # fmt: skip
            outcomes.append(one)
    text = table(outcomes)
    print(text.splitlines()[0])
    if chosen.write:
        before, _, rest = PAGE.read_text().partition(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}")


if __name__ == "__main__":
    main()
