"""Autocast, gradient scaling, and devices. There is no accelerator here: `meta` stands for another device."""

from bugs.bug import Bug

_CLIP = "gradients clipped before they are unscaled"
_AUTOCAST = "autocast for another device than the model's"
_DEVICE = "tensors on two devices"

_BODY = "        output = model(data)\n        loss = F.nll_loss(output, target)\n        loss.backward()\n        optimizer.step()\n"
_SCALED = """        output = model(data)
        loss = F.nll_loss(output, target)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""
_SCALER = "    model.train()\n    scaler = torch.amp.GradScaler('cpu')\n"

BUGS = (
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
)
