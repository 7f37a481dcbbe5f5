"""What happens to attention scores between the queries and the values."""

from bugs.bug import Bug

_ZERO = "mask filled with 0"
_AFTER = "mask after the softmax"
_HIDDEN = "causal mask hides the position itself"
_INVERTED = "boolean mask inverted"
_TWICE = "attention scaled twice"
_VIEW = "heads split by view instead of transpose"
_DIM = "softmax over the wrong axis"

_FILL = "TL601 TL602 TL604 TL605 TL606 TL607"

_MINGPT = "mingpt/model.py"
_MASKED = "        att = att.masked_fill(self.bias[:,:,:T,:T] == 0, float('-inf'))\n"
_SOFTMAX = "        att = F.softmax(att, dim=-1)\n"
_MULTIPLIED = "        att = att * self.bias[:,:,:T,:T]\n"
_NANO_MASKED = "    " + _MASKED
_NANO_SOFTMAX = "    " + _SOFTMAX
_SLOW = (
    "model.py",
    "self.flash = hasattr(torch.nn.functional, 'scaled_dot_product_attention')",
    "self.flash = False",
)
_MODULES = "transformer/Modules.py"
_THEIR_MASK = "            attn = attn.masked_fill(mask == 0, -1e9)\n"
_THEIR_SOFTMAX = "        attn = self.dropout(F.softmax(attn, dim=-1))\n"
_TRIU = "torch.triu(torch.ones((size, size), device=device)) == 1).transpose(0, 1)"
_SCALE = " * (1.0 / math.sqrt(k.size(-1)))"

BUGS = (
    Bug(_ZERO, "minGPT", _FILL, (_MINGPT, _MASKED, _MASKED.replace("float('-inf')", "0.0"))),
    Bug(
        _ZERO,
        "nanoGPT",
        _FILL,
        _SLOW,
        ("model.py", _NANO_MASKED, _NANO_MASKED.replace("float('-inf')", "0.0")),
    ),
    Bug(_ZERO, "attention-is-all-you-need", _FILL, (_MODULES, _THEIR_MASK, _THEIR_MASK.replace("-1e9", "0"))),
    Bug(
        _ZERO,
        "language_translation",
        _FILL,
        ("src/data.py", "masked_fill(mask == 0, float('-inf'))", "masked_fill(mask == 0, float(0.0))"),
    ),
    Bug(_AFTER, "minGPT", _FILL, (_MINGPT, _MASKED + _SOFTMAX, _SOFTMAX + _MULTIPLIED)),
    Bug(
        _AFTER,
        "nanoGPT",
        _FILL,
        _SLOW,
        (
            "model.py",
            _NANO_MASKED + _NANO_SOFTMAX,
            _NANO_SOFTMAX + _NANO_MASKED.replace("float('-inf')", "0.0"),
        ),
    ),
    Bug(
        _AFTER,
        "attention-is-all-you-need",
        _FILL,
        (
            _MODULES,
            "        if mask is not None:\n" + _THEIR_MASK + "\n" + _THEIR_SOFTMAX,
            _THEIR_SOFTMAX + "        if mask is not None:\n" + _THEIR_MASK.replace("-1e9", "0"),
        ),
    ),
    Bug(
        _HIDDEN,
        "minGPT",
        "TL603 TL606",
        (
            _MINGPT,
            "torch.tril(torch.ones(config.block_size, config.block_size))",
            "torch.tril(torch.ones(config.block_size, config.block_size), diagonal=-1)",
        ),
    ),
    Bug(
        _HIDDEN,
        "attention-is-all-you-need",
        "TL603 TL606",
        ("transformer/Models.py", "diagonal=1)).bool()", "diagonal=0)).bool()"),
    ),
    Bug(
        _HIDDEN,
        "language_translation",
        "TL603 TL606",
        ("src/data.py", _TRIU, _TRIU.replace("device=device))", "device=device), diagonal=1)")),
    ),
    Bug(
        _INVERTED,
        "nanoGPT",
        "TL604 TL607",
        ("model.py", "attn_mask=None,", "attn_mask=torch.ones(T, T, dtype=torch.bool).triu(1),"),
        ("model.py", "is_causal=True", "is_causal=False"),
    ),
    Bug(
        _INVERTED,
        "minGPT",
        "TL604 TL606 TL607",
        (
            _MINGPT,
            _MASKED,
            _MASKED.replace("self.bias[:,:,:T,:T] == 0", "self.bias[:,:,:T,:T].bool()"),
        ),
    ),
    Bug(
        _TWICE,
        "nanoGPT",
        "TL613",
        (
            "model.py",
            "scaled_dot_product_attention(q, k,",
            "scaled_dot_product_attention(q / math.sqrt(q.size(-1)), k,",
        ),
    ),
    Bug(
        _TWICE,
        "minGPT",
        "TL613",
        (_MINGPT, "(q @ k.transpose(-2, -1))" + _SCALE, "(q @ k.transpose(-2, -1))" + _SCALE + _SCALE),
    ),
    Bug(
        _VIEW,
        "minGPT",
        "TL612",
        (
            _MINGPT,
            "k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)",
            "k = k.reshape(B, self.n_head, T, C // self.n_head)",
        ),
    ),
    Bug(
        _VIEW,
        "nanoGPT",
        "TL612",
        (
            "model.py",
            "y = y.transpose(1, 2).contiguous().view(B, T, C)",
            "y = y.contiguous().view(B, T, C)",
        ),
    ),
    Bug(
        _VIEW,
        "attention-is-all-you-need",
        "TL612",
        (
            "transformer/SubLayers.py",
            "q = q.transpose(1, 2).contiguous().view(sz_b, len_q, -1)",
            "q = q.contiguous().view(sz_b, len_q, -1)",
        ),
    ),
    Bug(_DIM, "minGPT", "TL109 TL607", (_MINGPT, _SOFTMAX, _SOFTMAX.replace("dim=-1", "dim=-2"))),
    Bug(
        _DIM,
        "attention-is-all-you-need",
        "TL109 TL607",
        (_MODULES, _THEIR_SOFTMAX, _THEIR_SOFTMAX.replace("dim=-1", "dim=1")),
    ),
    Bug(
        _DIM,
        "mnist",
        "TL109",
        ("main.py", "output = F.log_softmax(x, dim=1)", "output = F.log_softmax(x, dim=0)"),
    ),
)
