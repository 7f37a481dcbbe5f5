"""Bugs as edits of text: each is many programs' own, wherever its patterns are found. Data."""

from __future__ import annotations

import re
from typing import NamedTuple


class Operator(NamedTuple):
    """A bug: patterns with what replaces their first match, all of which must be found, and the rules that speak of it."""

    title: str
    codes: str
    edits: tuple[tuple[str, str], ...]

    def applied(self, text: str) -> str:
        for pattern, new in self.edits:
            text, count = re.subn(
                pattern, new, text, count=0 if pattern.startswith("(?#all)") else 1, flags=re.M
            )
            if count == 0:
                raise ValueError(f"{self.title}: not found: {pattern!r}")
        return text


_CUT = "TL201 TL202 TL203 TL210"
_LOOP = "TL301 TL334"
_PARTS = "TL309 TL315 TL338"
_LOST = "TL335 TL306"

OPERATORS = {
    # Losses
    "softmax": Operator("softmax before cross-entropy", "TL101",
        ((r"(cross_entropy\(|criterion\(|loss_fct\(|self\.loss_fn\()(\w[\w.]*(?:\[\w+\]|\.view\(-1, [\w.]+\))?), ", r"\1\2.softmax(-1), "),)),
    "softmax layer": Operator("softmax as the last layer", "TL101", ((r"return torch\.relu\(self\.l(\d)\((.*)\)\)$", r"return torch.softmax(self.l\1(\2), dim=1)"),)),
    "sigmoid": Operator("sigmoid before BCE with logits", "TL104", ((r"\.loss\(y_logits, ", ".loss(y_scores, "),)),
    "sigmoid layer": Operator("sigmoid layer before BCE with logits", "TL104", ((r"nn\.Linear\(256, 1\),$", "nn.Linear(256, 1),\n            nn.Sigmoid(),"),)),
    "no sigmoid": Operator("sigmoid missing before BCE", "TL105", ((r"^ *nn\.Sigmoid\(\),\n", ""),)),
    "no log-softmax": Operator("log-softmax missing before NLL", "TL103", ((r"F\.log_softmax\(x, dim=1\)", "x"),)),
    "plain softmax": Operator("softmax in place of log-softmax before NLL", "TL103", ((r"F\.log_softmax\(x, dim=1\)", "F.softmax(x, dim=1)"),)),
    "two softmaxes": Operator("softmax in place of logits before cross-entropy", "TL101 TL102",
        ((r"log_softmax\(x, dim=1\)", "softmax(x, dim=1)"),)),
    "swapped": Operator("loss arguments swapped", "TL110", ((r"(cross_entropy\(|nll_loss\(|criterion\()(\w+), ([\w\"\[\]]+)\)", r"\1\3, \2)"),)),
    # Graphs
    "rebuilt": Operator("loss rebuilt from its value", _CUT,
        ((r"^( *)(g_loss|err_g|loss_train|train_loss|loss) = (.+)$", r"\1\2 = \3\n\1\2 = torch.tensor(\2.item(), requires_grad=True)"),)),
    "rebuilt pair": Operator("loss rebuilt from its value", _CUT,
        ((r"^( *)(loss, .+) = (.+)$", r"\1\2 = \3\n\1loss = torch.tensor(loss.item(), requires_grad=True)"),)),
    "detached": Operator("loss detached", _CUT,
        ((r"^( *)(g_loss|err_g|loss_train|train_loss|loss) = (.+)$", r"\1\2 = \3\n\1\2 = \2.detach().requires_grad_()"),)),
    "detached output": Operator("output of the model detached", _CUT,
        ((r"^( *)(y_hat|output|outputs|out|logits|y_logits) = (self|model|model_engine)(\.\w+)?\((.+)\)$", r"\1\2 = \3\4(\5).detach().requires_grad_()"),)),
    "forward under no_grad": Operator("forward under no_grad", "TL204 " + _CUT,
        ((r"^( *)(y_hat|output|outputs|out|logits|y_logits|img|z) = (self|model|model_engine)(\.\w+)?\((.+)\)$", r"\1with torch.no_grad():\n\1    \2 = \3\4(\5)\n\1\2.requires_grad_()"),)),
    "generator cut": Operator("generator behind a detach", _CUT, ((r"self\.discriminator\(self\(z\)\), valid", "self.discriminator(self(z).detach()), valid"),)),
    "generator cut in a loop": Operator("generator behind a detach", _CUT, ((r"discriminator\(fake\)\.view", "discriminator(fake.detach()).view"),)),
    "graphs kept": Operator("graph of every loss kept in a sum", "TL205", ((r"loss\.detach\(\)(\.float\(\))?", "loss"),)),
    "no_grad dropped": Operator("no_grad dropped in evaluation", "TL312", ((r"with torch\.no_grad\(\):", "if True:"),)),
    # The loop
    "zero_grad": Operator("zero_grad removed", _LOOP, ((r"(?#all)^ *(optimizer|optim|opt_d|optimizer_\w|discriminator)\.zero_grad\(.*\)\n", ""),)),
    "zero_grad between": Operator("zero_grad between backward and step", "TL302",
        ((r"^( *)((?:accelerator|fabric|self|loss)\.(?:manual_)?backward\(.*\).*)\n", r"\1\2\n\1optimizer.zero_grad()\n"),)),
    "step": Operator("step removed", "TL305 TL334", ((r"(?#all)^ *(optimizer|optim|opt_g|optimizer_g|model_engine)\.step\(\)\n", ""),)),
    "backward": Operator("backward removed", "TL302 TL303 TL306 TL334", ((r"^ *(accelerator|fabric|self|model_engine)\.(manual_)?backward\((g_loss|err_g|loss)\).*\n", ""),)),
    "eval": Operator("training in evaluation mode", "TL310", ((r"^( *)(model|model_engine)\.train\(\)$", r"\1\2.eval()"),)),
    "train dropped": Operator("evaluation mode after the first evaluation", "TL310", ((r"^ *(model|discriminator)\.train\(\)\n", ""),)),
    "eval in a step": Operator("training in evaluation mode", "TL310", ((r"^( *)(def training_step\(.*\n)( *)", r"\1\2\3self.eval()\n\3"),)),
    "no eval": Operator("evaluation in training mode", "TL311", ((r"^ *model\.eval\(\)\n", ""),)),
    "scheduler first": Operator("scheduler steps before the optimizer", "TL304",
        ((r"^( *)optimizer\.step\(\)\n *lr_scheduler\.step\(\)\n", r"\1lr_scheduler.step()\n\1optimizer.step()\n"),)),
    "optimizer anew": Operator("optimizer re-created in the loop", "TL307",
        ((r"^( *)model\.train\(\)$", r"\1model.train()\n\1optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)"),)),
    "clip after step": Operator("gradients clipped after the step", "TL313",
        ((r"^( *)(fabric\.clip_gradients\(.*\)|grad_norm = accelerator\.clip_grad_norm_\(.*\))\n((?:\s*#.*\n|\s*\n)*)( *optimizer\.step\(\)\n)", r"\3\4\1\2\n"),)),
    "unshared clip": Operator("clipping before unscale", "TL404 TL330", ((r"^( *)(optimizer\.step\(\))", r"\1torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n\1\2"),)),
    "lr": Operator("learning rate of 0", "TL315 TL316", ((r"\blr=(learning_rate|lr|5e-4|0\.\d+|config\[\"lr\"\]|hparams\.lr|args\.\w+|self\.[\w.]+)\b", "lr=0.0"),)),
    "another model": Operator("optimizer over a copy", _PARTS,
        ((r"^( *)(optimizer = .*\n(?:\1 +.*\n|\1\)\n)*)", r"\1\2\1import copy\n\1model = copy.deepcopy(model)\n"),)),
    "wrong network": Operator("optimizer over another model", _PARTS + " TL210", ((r"Adam\((self\.)?generator\.parameters", r"Adam(\1discriminator.parameters"),)),
    # Helpers that own part of the loop
    "plain backward": Operator("backward outside of the accelerator", "TL330", ((r"accelerator\.backward\((\w+)\)", r"\1.backward()"),)),
    "no accumulate": Operator("no accumulate", "TL332", ((r"with accelerator\.accumulate\(model\):", "if True:"),)),
    "divided twice": Operator("accumulated losses divided twice", "TL332", ((r"accelerator\.backward\(loss\)", "accelerator.backward(loss / gradient_accumulation_steps)"),)),
    "counted twice": Operator("batches counted beside accumulate", "TL332",
        ((r"^( *)(optimizer\.step\(\)\n *lr_scheduler\.step\(\)\n *optimizer\.zero_grad\(\)\n)",
          r"\1if step % gradient_accumulation_steps == 0:\n\1    optimizer.step()\n\1    lr_scheduler.step()\n\1    optimizer.zero_grad()\n"),)),
    "unprepared loader": Operator("training loader not prepared", "TL331 TL520",
        ((r"train_dataloader, (.*= accelerator\.prepare\()", r"\1"), (r"(accelerator\.prepare\(\s*)((?:\w+, )*)train_dataloader, ", r"\1\2"))),
    "unprepared optimizer": Operator("optimizer not prepared", "TL331",
        ((r"optimizer, (.*= accelerator\.prepare\()", r"\1"), (r"(accelerator\.prepare\(\s*)((?:\w+, )*)optimizer, ", r"\1\2"))),
    "unprepared model": Operator("model not prepared", "TL331",
        ((r"model, (.*= accelerator\.prepare\()", r"\1"), (r"(accelerator\.prepare\(\s*)model, ", r"\1"))),
    "loader not set up": Operator("loader not set up by Fabric", "TL331 TL520", ((r"^ *\w+(, \w+)? = fabric\.setup_dataloaders\(.*\)\n", ""),)),
    "padded gather": Operator("metrics of padded batches", "TL522", ((r"gather_for_metrics\(\(", "gather(("),)),
    # Lightning
    "no return": Operator("training_step without a loss", _LOST, ((r"(def training_step\((?:.*\n)*?) *return (loss|train_loss|loss_train|\{.*\})\n", r"\1"),)),
    "part": Operator("optimizer of a part only", _PARTS,
        ((r"(configure_optimizers\((?:.*\n)*?.*\()(params=)?(self\.(?:\w+\.)?parameters\(\))", r"\1\2PART.parameters()"),)),
    "steps in automatic": Operator("step in automatic optimization", "TL334", ((r"^( *)return (loss|train_loss|loss_train)$", r"\1self.optimizers().step()\n\1return \2"),)),
    "schedule per epoch": Operator("schedule of steps moved per epoch", "TL333", ((r"^ *.interval.: .step.,\n", ""),)),
    "one cycle": Operator("schedule of steps moved per epoch", "TL333",
        ((r"(scheduler|sch) = [\w.]+\((optimizer|opt), .*\)$", r"\1 = torch.optim.lr_scheduler.OneCycleLR(\2, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches)"),)),
    "one cycle added": Operator("schedule of steps moved per epoch", "TL333",
        ((r"^( *)return (torch\.optim\.\w+\(.*\))$", r"\1optimizer = \2\n\1return [optimizer], [torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches)]"),)),
    # Tokens
    "padding": Operator("padding counts in the loss", "TL703",
        ((r"^ *labels\[labels == .*\] = -100\n|^ *batch\[\"labels\"\] = torch\.where\(batch\[\"labels\"\] == .*\)\n|\.masked_fill\(labels_batch\.attention_mask\.ne\(1\), -100\)", ""),)),
    "all ignored": Operator("all labels ignored", "TL710",
        ((r"labels\[labels == .*\] = -100|batch\[\"labels\"\] = torch\.where\(batch\[\"labels\"\] == .*\)|result\[\"labels\"\] = .*|model_inputs\[\"labels\"\] = .*copy\(\)",
          r"IGNORED"),)),
    "shifted": Operator("labels shifted for a model that shifts", "TL702",
        ((r"^( *)(result|model_inputs)\[\"labels\"\] = .*copy\(\)$", r'\1\2["labels"] = SHIFTED'),)),
    "no mask": Operator("no attention mask", "TL714", ((r"^(.* = model\()\*\*batch\)", r'\1input_ids=batch["input_ids"], labels=batch["labels"])'),)),
    "no mask given": Operator("no attention mask", "TL714", ((r"(?:, \\\n\s*|,\s*)attention_mask=(attention_mask|batch\[.attention_mask.\]\.reshape\(.*, -1\))", ""),)),
    "adapters late": Operator("optimizer before the adapters", _PARTS,
        ((r"^( *)model = get_peft_model\(model, peft_config\)\n", r"\1optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)\n\1model = get_peft_model(model, peft_config)\n"),
         (r"(get_peft_model\(model, peft_config\)\n(?:.*\n)*?)^( *)optimizer = (?:torch\.optim\.)?AdamW\(.*\)\n", r"\1"))),
    "scheduler moved": Operator("scheduler steps before the optimizer", "TL304", ((r"^( *)optimizer\.step\(\)\n *lr_scheduler\.step\(\)\n", r"\1lr_scheduler.step()\n\1optimizer.step()\n"),)),
    "trainer lr": Operator("learning rate of 0", "TL315", ((r"learning_rate=learning_rate,", "learning_rate=0.0,"),)),
}  # fmt: skip
