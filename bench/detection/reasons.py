"""Why bugs are missed, as far as we know: by kind, or by program and kind where that matters."""

from __future__ import annotations

_BY_KIND = {
    "random layer frozen": "a frozen layer looks the same with random and with pretrained weights",
    "all labels the same": "contrastive losses have the same label in every row on purpose",
}

_BY_PROGRAM = {
    "Hugging Face BERT: forward under no_grad": "a library's model under `no_grad` with a head looks like a "
    "pretrained backbone that is frozen on purpose",
    "Hugging Face BERT: padding mask inverted": "it masks all keys of some samples, which may be correct for samples of only "
    "padding",
    "nanoGPT: accumulated losses not divided": "batches in an inner loop look like tasks or heads, whose losses are "
    "summed on purpose",
    "pytorch-cifar100: validation in training mode": "the source selects the model by a name from the command line, and one "
    "recorded step does not reach the validation",
    "language_translation: validation in training mode": "without `no_grad()` and `eval()` nothing in the source says that "
    "this loop does not train, and one recorded step does not reach it",
    "minGPT: attention scaled twice": "in attention by hand, two factors may both be on purpose; only the input of "
    "`scaled_dot_product_attention` is certainly scaled again",
    "cnn-text-classification: step without the scaler": "the loop iterates over all parameters, and may unscale their gradients "
    "by hand; in a run, torch raises its own error first",
    "nanoGPT: step without the scaler": "gradients are unscaled by hand before, so the step is correct, and only the check for "
    "infinite ones is missing",
    "cnn-text-classification: device-to-host sync in forward": "a count of tokens becomes a shape, which Python has to "
    "know: models do so on purpose, and TL809 leaves counts alone",
    "language_translation: batch_first mismatch": "torch raises before any layer runs, and says which sizes differ",
}


def reason(kind: str, program: str) -> str:
    return _BY_PROGRAM.get(f"{program}: {kind}") or _BY_KIND.get(kind, "not looked into")
