"""Masks, positions of axes, and the targets of language models."""

from bugs.bug import Bug

_NO_MASK = "causal mask missing"
_FLIPPED = "causal mask flipped"
_OFF = "causal mask off by one"
_AXIS = "padding mask along the wrong axis"
_INVERTED = "padding mask inverted"
_UNSHIFTED = "targets not shifted"
_BATCH_FIRST = "batch_first mismatch"

_LEAK = "TL603 TL604 TL605 TL606 TL607"
_PADDING = "TL604 TL605 TL606"

_TRIL = "torch.tril(torch.ones(config.block_size, config.block_size))"
_TRIU = "torch.triu(torch.ones((size, size), device=device)) == 1).transpose(0, 1)"

BUGS = (
    Bug(
        _NO_MASK,
        "minGPT",
        _LEAK,
        ("mingpt/model.py", "        att = att.masked_fill(self.bias[:,:,:T,:T] == 0, float('-inf'))\n", ""),
    ),
    Bug(_NO_MASK, "nanoGPT", _LEAK, ("model.py", "is_causal=True", "is_causal=False")),
    Bug(
        _NO_MASK,
        "attention-is-all-you-need",
        _LEAK,
        (
            "transformer/Models.py",
            "get_pad_mask(trg_seq, self.trg_pad_idx) & get_subsequent_mask(trg_seq)",
            "get_pad_mask(trg_seq, self.trg_pad_idx)",
        ),
    ),
    Bug(
        _NO_MASK,
        "language_translation",
        _LEAK,
        ("src/model.py", "            tgt_mask,\n            None,", "            None,\n            None,"),
    ),
    Bug(
        _FLIPPED,
        "minGPT",
        _LEAK,
        ("mingpt/model.py", "self.bias[:,:,:T,:T] == 0", "self.bias[:,:,:T,:T] == 1"),
    ),
    Bug(
        _FLIPPED, "language_translation", _LEAK, ("src/data.py", _TRIU, _TRIU.replace(".transpose(0, 1)", ""))
    ),
    Bug(
        _FLIPPED,
        "attention-is-all-you-need",
        _LEAK,
        ("transformer/Models.py", "(1 - torch.triu(\n", "(torch.triu(\n"),
    ),
    Bug(_OFF, "minGPT", _LEAK, ("mingpt/model.py", _TRIL, _TRIL[:-1] + ", diagonal=1)")),
    Bug(
        _OFF,
        "nanoGPT",
        _LEAK,
        ("model.py", "attn_mask=None,", "attn_mask=torch.ones(T, T, dtype=torch.bool).tril(diagonal=1),"),
        ("model.py", "is_causal=True", "is_causal=False"),
    ),
    Bug(
        _OFF,
        "attention-is-all-you-need",
        _LEAK,
        ("transformer/Models.py", "diagonal=1)).bool()", "diagonal=2)).bool()"),
    ),
    Bug(
        _OFF,
        "language_translation",
        _LEAK,
        ("src/data.py", _TRIU, _TRIU.replace("device=device))", "device=device), diagonal=-1)")),
    ),
    Bug(
        _AXIS,
        "language_translation",
        _PADDING,
        (
            "src/data.py",
            "src_padding_mask = (src == pad_idx).transpose(0, 1)",
            "src_padding_mask = (src == pad_idx)",
        ),
    ),
    Bug(
        _AXIS,
        "attention-is-all-you-need",
        _PADDING,
        ("transformer/Models.py", "(seq != pad_idx).unsqueeze(-2)", "(seq != pad_idx).unsqueeze(-1)"),
    ),
    Bug(
        _AXIS,
        "Hugging Face BERT",
        _PADDING,
        ("bert.py", "(tokens != PAD).long()", "(tokens != PAD).long().t()"),
    ),
    Bug(
        _INVERTED,
        "language_translation",
        _PADDING,
        ("src/data.py", "src_padding_mask = (src == pad_idx)", "src_padding_mask = (src != pad_idx)"),
    ),
    Bug(
        _INVERTED,
        "attention-is-all-you-need",
        _LEAK,
        ("transformer/Models.py", "(seq != pad_idx)", "(seq == pad_idx)"),
    ),
    Bug(_INVERTED, "Hugging Face BERT", _PADDING, ("bert.py", "(tokens != PAD)", "(tokens == PAD)")),
    Bug(
        _UNSHIFTED,
        "nanoGPT",
        "TL701",
        ("train.py", "data[i+1:i+1+block_size]", "data[i:i+block_size]"),
    ),
    Bug(
        _UNSHIFTED,
        "minGPT",
        "TL701",
        ("projects/adder/adder.py", "torch.tensor(dix[1:]", "torch.tensor(dix[:-1]"),
    ),
    Bug(
        _UNSHIFTED,
        "language_translation",
        "TL701",
        ("main.py", "# Get original shape back\n        tgt_out = tgt[1:, :]", "tgt_out = tgt[:-1, :]"),
    ),
    Bug(
        _BATCH_FIRST, "mnist_rnn", "TL609", ("main.py", "hidden_size=64, batch_first=True", "hidden_size=64")
    ),
    Bug(_BATCH_FIRST, "tutorial BiRNN", "TL609", ("main.py", "batch_first=True, ", "")),
    Bug(
        _BATCH_FIRST,
        "language_translation",
        "TL605 TL609",
        (
            "src/model.py",
            "            dropout=dropout\n        )\n\n        self.ff",
            "            dropout=dropout,\n            batch_first=True\n        )\n\n        self.ff",
        ),
    ),
)
