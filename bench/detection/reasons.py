"""Why bugs are missed, as far as we know: by kind, or by program and kind where that matters."""

from __future__ import annotations

_BY_KIND = {
    "random layer frozen": "a frozen layer looks the same whether its weights are random or were trained before",
    "all labels the same": "contrastive losses have the same label in every row on purpose",
}

_BY_PROGRAM = {
    "Hugging Face BERT: forward under no_grad": "a library's model under `no_grad` with a head on top looks like a "
    "pretrained body that is left alone on purpose",
    "Hugging Face BERT: padding mask inverted": "it leaves some samples without any key, which samples of nothing but "
    "padding may well be",
    "nanoGPT: accumulated losses not divided": "batches in a loop of their own look like tasks or heads, whose losses are "
    "added on purpose",
    "pytorch-cifar100: validation in training mode": "the source chooses the model by a name that it is given, and one "
    "recorded step does not reach the validation",
    "language_translation: validation in training mode": "without `no_grad()` and `eval()` nothing in the source says that "
    "this loop does not train, and one recorded step does not reach it",
    "minGPT: attention scaled twice": "in attention that is written out, two factors may both be meant; only what is "
    "given to `scaled_dot_product_attention` is certainly scaled once more",
    "cnn-text-classification: step past the scaler": "the loop goes through all parameters, and may unscale their gradients "
    "by hand; in a run, torch's own error comes first",
    "nanoGPT: step past the scaler": "gradients are unscaled by hand before, so the step is right, and only the check for "
    "infinite ones is left out",
    "cnn-text-classification: numbers handed to Python in forward": "a count of tokens becomes a shape, which Python has to "
    "know: models do so on purpose, and TL809 leaves counts alone",
    "language_translation: batch_first mismatch": "torch raises before any layer runs, and says which sizes differ",
}


def reason(kind: str, program: str) -> str:
    return _BY_PROGRAM.get(f"{program}: {kind}") or _BY_KIND.get(kind, "not looked into")
