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
    "language_translation: batch_first mismatch": "torch raises before any layer runs, and says which sizes differ",
}


def reason(kind: str, program: str) -> str:
    return _BY_PROGRAM.get(f"{program}: {kind}") or _BY_KIND.get(kind, "not looked into")
