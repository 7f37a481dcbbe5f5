"""Autocast, gradient scaling, and devices. There is no accelerator here: `meta` stands for another device."""

from bugs.bug import Bug

_CLIP = "gradients clipped before they are unscaled"
_AUTOCAST = "autocast for another device than the model's"
_DEVICE = "tensors on two devices"
_UNSCALED = "float16 without a scaler"
_PAST = "step without the scaler"
_PLAIN = "backward on the unscaled loss"
_NO_UPDATE = "scaler.update() removed"
_BF16 = "scaler with bfloat16"
_HALF = "weights in half precision"

_BODY = "        output = model(data)\n        loss = F.nll_loss(output, target)\n        loss.backward()\n        optimizer.step()\n"
_SCALED = """        output = model(data)
        loss = F.nll_loss(output, target)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""
_SCALER = "    model.train()\n    scaler = torch.amp.GradScaler('cpu')\n"

_LOOP = """        optimizer.zero_grad()
        with torch.autocast('cpu', dtype=torch.float16):
            output = model(data)
            loss = F.nll_loss(output, target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
"""
_TEXT_LOOP = """            logit = model(feature)
            loss = F.cross_entropy(logit, target)
            loss.backward()
            optimizer.step()
"""
_TEXT_SCALED = """            with torch.autocast('cpu', dtype=torch.float16):
                logit = model(feature)
                loss = F.cross_entropy(logit, target)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
"""
_STEPS = "        scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        scaler.update()\n"


def _mixed(kind: str, program: str, codes: str, old: str, new: str) -> Bug:
    """A bug in a loop that is first made one of mixed precision."""
    return Bug(
        kind,
        program,
        codes,
        ("main.py", "        optimizer.zero_grad()\n" + _BODY, _LOOP.replace(old, new)),
        ("main.py", "    model.train()\n", _SCALER),
    )


def _scaled(kind: str, codes: str, old: str, new: str) -> Bug:
    """The same in another loop."""
    return Bug(
        kind,
        "cnn-text-classification",
        codes,
        ("train.py", _TEXT_LOOP, _TEXT_SCALED.replace(old, new)),
        ("train.py", "    steps = 0\n", "    steps = 0\n    scaler = torch.amp.GradScaler('cpu')\n"),
    )


def _float16(program: str, file: str, call: str) -> Bug:
    spaces = call[: len(call) - len(call.lstrip())]
    inside = f"{spaces}with torch.autocast('cpu', dtype=torch.float16):\n    {call}"
    return Bug(_UNSCALED, program, "TL402", (file, call, inside))


BUGS = (
    Bug(
        _UNSCALED,
        "mnist",
        "TL402",
        (
            "main.py",
            "optimizer.zero_grad()\n        output = model(data)",
            "optimizer.zero_grad()\n        with torch.autocast('cpu', dtype=torch.float16):\n"
            "            output = model(data)",
        ),
    ),
    _float16(
        "cnn-text-classification",
        "train.py",
        "            logit = model(feature)\n            loss = F.cross_entropy(logit, target)\n            loss.backward()",
    ),
    _float16("minGPT", "mingpt/trainer.py", "            logits, self.loss = model(x, y)"),
    _float16("Hugging Face BERT", "bert.py", "            logits = model(tokens, mask)"),
    _float16(
        "Hugging Face GPT-2", "gpt2.py", "            loss = model(input_ids=tokens, labels=tokens).loss"
    ),
    _float16(
        "tutorial CNN",
        "main.py",
        "        outputs = model(images)\n        loss = criterion(outputs, labels)",
    ),
    _mixed(_PAST, "mnist", "TL405", "scaler.step(optimizer)", "optimizer.step()"),
    _scaled(_PAST, "TL405", "scaler.step(optimizer)", "optimizer.step()"),
    _scaled(_PLAIN, "TL402 TL405", "scaler.scale(loss).backward()", "loss.backward()"),
    _scaled(_NO_UPDATE, "TL405", "            scaler.update()\n", ""),
    Bug(_PAST, "nanoGPT", "TL405", ("train.py", "    scaler.step(optimizer)\n", "    optimizer.step()\n")),
    _mixed(_PLAIN, "mnist", "TL402 TL405", "scaler.scale(loss).backward()", "loss.backward()"),
    Bug(_PLAIN, "nanoGPT", "TL402 TL405", ("train.py", "scaler.scale(loss).backward()", "loss.backward()")),
    _mixed(_NO_UPDATE, "mnist", "TL405", "        scaler.update()\n", ""),
    Bug(_NO_UPDATE, "nanoGPT", "TL405", ("train.py", "    scaler.update()\n", "")),
    _mixed(_BF16, "mnist", "TL403", "dtype=torch.float16", "dtype=torch.bfloat16"),
    _mixed(_BF16, "mnist_rnn", "TL403", "dtype=torch.float16", "dtype=torch.bfloat16"),
    _mixed(
        "backward inside autocast",
        "mnist",
        "TL406",
        _STEPS,
        "            scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        scaler.update()\n",
    ),
    Bug(
        _HALF,
        "tutorial feedforward",
        "TL410",
        ("main.py", "num_classes).to(device)", "num_classes).to(device).half()"),
        (
            "main.py",
            "# Move tensors to the configured device\n        images = images.reshape(-1, 28*28).to(device)",
            "images = images.reshape(-1, 28*28).to(device).half()",
        ),
    ),
    Bug(
        _HALF,
        "minGPT",
        "TL410",
        ("projects/adder/adder.py", "GPT(config.model)\n", "GPT(config.model).half()\n"),
    ),
    Bug(
        _HALF,
        "Hugging Face GPT-2",
        "TL410",
        ("gpt2.py", "GPT2LMHeadModel(config)\n", "GPT2LMHeadModel(config).half()\n"),
    ),
    Bug(
        _HALF,
        "Hugging Face BERT",
        "TL410",
        ("bert.py", "Classifier(config)\n", "Classifier(config).to(torch.float16)\n"),
    ),
    Bug(
        _HALF,
        "cnn-text-classification",
        "TL410",
        ("train.py", "    steps = 0\n", "    model.half()\n    steps = 0\n"),
    ),
    Bug(_CLIP, "nanoGPT", "TL404", ("train.py", "        scaler.unscale_(optimizer)\n", "")),
    Bug(_CLIP, "mnist", "TL404", ("main.py", _BODY, _SCALED), ("main.py", "    model.train()\n", _SCALER)),
    Bug(
        _CLIP, "mnist_rnn", "TL404", ("main.py", _BODY, _SCALED), ("main.py", "    model.train()\n", _SCALER)
    ),
    Bug(
        _AUTOCAST,
        "mnist",
        "TL408",
        (
            "main.py",
            "optimizer.zero_grad()\n        output = model(data)",
            "optimizer.zero_grad()\n        with torch.autocast('cuda'):\n            output = model(data)",
        ),
    ),
    Bug(
        _AUTOCAST,
        "Hugging Face BERT",
        "TL408",
        (
            "bert.py",
            "            logits = model(tokens, mask)",
            "            with torch.autocast('cuda', dtype=torch.bfloat16):\n                logits = model(tokens, mask)",
        ),
    ),
    Bug(
        _AUTOCAST,
        "nanoGPT",
        "TL408",
        (
            "train.py",
            "nullcontext() if device_type == 'cpu' else torch.amp.autocast(device_type=device_type,",
            "torch.amp.autocast(device_type='cuda',",
        ),
    ),
    Bug(
        _DEVICE,
        "tutorial CNN",
        "TL801",
        (
            "main.py",
            "nn.CrossEntropyLoss()",
            "nn.CrossEntropyLoss(weight=torch.ones(num_classes, device='meta'))",
        ),
    ),
    Bug(
        _DEVICE,
        "vae",
        "TL801",
        ("main.py", "eps = torch.randn_like(std)", "eps = torch.randn_like(std, device='meta')"),
    ),
    Bug(
        _DEVICE,
        "attention-is-all-you-need",
        "TL801",
        ("transformer/Models.py", "device=seq.device)", "device='meta')"),
    ),
    Bug(
        _DEVICE,
        "mnist",
        "TL801",
        ("main.py", "model = Net().to(device)", "model = Net().to('meta')"),
    ),
)
