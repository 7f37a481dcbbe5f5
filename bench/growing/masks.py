"""Masks that are combined again and again."""

from __future__ import annotations

from .program import Program, pattern, repeated, script

_BEGIN = "mask = torch.tril(torch.ones(32, 32)).bool()\nmore = torch.ones(32, 32).bool()\n"
_USED = (
    "\nw = (h @ h.transpose(-2, -1)).masked_fill(mask[: h.size(0), : h.size(0)], float('-inf'))"
    "\nh = torch.softmax(w, dim=-1) @ h"
)


@pattern
def masks_narrowed(n: int) -> Program:
    """`m = m & other`."""
    return script(forward=_BEGIN + repeated(n, "mask = mask & more") + _USED)


@pattern
def masks_crossed(n: int) -> Program:
    """`m = (m & a) | (~m & a)`."""
    return script(forward=_BEGIN + repeated(n, "mask = (mask & more) | (~mask & more)") + _USED)


@pattern
def masks_with_themselves(n: int) -> Program:
    """`m = m | m.T`."""
    return script(
        forward=_BEGIN + repeated(n, "mask = mask | mask.transpose(0, 1)", "mask = mask & mask") + _USED
    )


@pattern
def masks_inverted(n: int) -> Program:
    """`m = ~m`."""
    return script(forward=_BEGIN + repeated(n, "mask = ~mask") + _USED)


@pattern
def masks_of_numbers(n: int) -> Program:
    """`m = m * m + m`, of ones and zeros."""
    return script(
        forward="mask = torch.tril(torch.ones(32, 32))\n"
        + repeated(n, "mask = mask * mask + mask - mask")
        + "\nmask = mask == 0"
        + _USED
    )


@pattern
def masks_filled(n: int) -> Program:
    """`m = m.masked_fill(m == 0, -inf).masked_fill(...)`."""
    return script(
        forward="mask = torch.tril(torch.ones(32, 32))\n"
        + repeated(n, "mask = mask.masked_fill(mask == 0, -1.0).masked_fill(mask > 0, 1.0)")
        + "\nmask = mask < 0"
        + _USED
    )


@pattern
def masks_written(n: int) -> Program:
    """A mask that is written to in place."""
    return script(
        forward=_BEGIN + repeated(n, "mask[{i}:] = False", "mask &= more", "mask.logical_or_(more)") + _USED
    )


@pattern
def masks_where(n: int) -> Program:
    """`m = where(m, m, other)`."""
    return script(forward=_BEGIN + repeated(n, "mask = torch.where(mask, mask, more)") + _USED)


@pattern
def masks_sliced(n: int) -> Program:
    """A mask of a mask of a mask."""
    return script(
        forward=_BEGIN + repeated(n, "mask = mask[None][0][: mask.size(0), : mask.size(1)]") + _USED
    )


@pattern
def masks_by_branch(n: int) -> Program:
    """Each branch adds to the mask."""
    return script(
        forward=_BEGIN
        + repeated(n, "if h.size(0) > {i}:", "    mask = mask & torch.triu(more, diagonal={i})")
        + _USED
    )


@pattern
def masks_of_padding(n: int) -> Program:
    """What is padding, from tokens that are compared many times."""
    return script(
        step="tokens = torch.randint(0, 100, (8, 32))\npad = tokens != 0\n"
        + repeated(n, "pad = pad & (tokens != {next})", "pad = pad.unsqueeze(1).squeeze(1)"),
        scores="scores = scores.masked_fill(~pad, -1e9)",
    )


@pattern
def attention_written_out(n: int) -> Program:
    """Masked attention, `n` times in a row with one mask."""
    return script(
        forward=_BEGIN
        + repeated(
            n,
            "w = (h @ h.transpose(-2, -1)) / 5.6",
            "w = w.masked_fill(~mask[: h.size(0), : h.size(0)], float('-inf'))",
            "h = h + torch.softmax(w, dim=-1) @ h",
        )
    )
