"""Which token is to be predicted where, and which positions count."""

from bugs.bug import Bug

_DOUBLE = "targets shifted twice"
_PADDING = "padding counts in the loss"
_POSITION = "positions out of range"

_FLAT = "F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)"
_SHIFTED = "F.cross_entropy(logits[:, :-1].reshape(-1, logits.size(-1)), targets[:, 1:].reshape(-1), ignore_index=-1)"
_ARANGE = "pos = torch.arange(0, t, dtype=torch.long, device=device)"
_FROM_ONE = "pos = torch.arange(1, t + 1, dtype=torch.long, device=device)"

BUGS = (
    Bug(_DOUBLE, "minGPT", "TL702", ("mingpt/model.py", _FLAT, _SHIFTED)),
    Bug(_DOUBLE, "nanoGPT", "TL702", ("model.py", _FLAT, _SHIFTED)),
    Bug(
        _DOUBLE,
        "Hugging Face GPT-2",
        "TL702",
        ("gpt2.py", "input_ids=tokens, labels=tokens)", "input_ids=tokens[:, :-1], labels=tokens[:, 1:])"),
    ),
    Bug(
        _DOUBLE,
        "attention-is-all-you-need",
        "TL702",
        ("train.py", "trg, gold = trg[:, :-1], trg[:, 1:]", "trg, gold = trg[:, :-2], trg[:, 2:]"),
    ),
    Bug(
        _PADDING,
        "attention-is-all-you-need",
        "TL703",
        (
            "train.py",
            "F.cross_entropy(pred, gold, ignore_index=trg_pad_idx, ",
            "F.cross_entropy(pred, gold, ",
        ),
    ),
    Bug(
        _PADDING,
        "language_translation",
        "TL703",
        ("main.py", 'CrossEntropyLoss(ignore_index=special_symbols["<pad>"])', "CrossEntropyLoss()"),
    ),
    Bug(_POSITION, "minGPT", "TL610", ("mingpt/model.py", _ARANGE, _FROM_ONE)),
    Bug(_POSITION, "nanoGPT", "TL610", ("model.py", _ARANGE, _FROM_ONE)),
    Bug(_POSITION, "Hugging Face GPT-2", "TL610", ("gpt2.py", "n_positions=32", "n_positions=8")),
)
