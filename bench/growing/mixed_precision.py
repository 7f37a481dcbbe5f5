"""Autocast, casts and scalers."""

from __future__ import annotations

from .program import Program, chained, nested, pattern, repeated, script


@pattern
def casts(n: int) -> Program:
    """From half to float and back."""
    return script(forward=repeated(n, "h = h.half().float() + h.to(torch.float16).to(h.dtype)"))


@pattern
def casts_under_autocast(n: int) -> Program:
    """Regions in a row, with casts between them."""
    return script(
        forward=repeated(
            n,
            "with torch.autocast('cuda', dtype=torch.float16):",
            "    h = torch.relu(h.to(torch.float32) @ h.to(torch.float16))",
        )
    )


@pattern
def half_products(n: int) -> Program:
    """`h = h @ h` in half precision, filled with a number that is too large for it."""
    return script(
        made="model = model.half()", forward=repeated(n, "h = h @ h") + "\nh = h.masked_fill(h > 1, -1e9)"
    )


@pattern
def half_sums(n: int) -> Program:
    """`h = matmul(h, h) + 1` of tensors that may be half."""
    return script(
        forward="if flag:\n    h = h.half()\n"
        + repeated(n, "h = torch.bmm(h, h) * 2", "h = torch.matmul(h + 1, h)")
        + "\nh = h.masked_fill(h > 1, -1e9)",
    )


@pattern
def regions_in_regions(n: int) -> Program:
    """Autocast inside autocast, each of which may be another context."""
    depth = min(n, 20)
    return script(
        made="def region(wanted):\n    return torch.autocast('cuda') if wanted else contextlib.nullcontext()\n\n",
        before=repeated(n, "region{i} = region(len(sys.argv) > {i})"),
        step=nested(depth, "with region{i}:", "helped = F.cross_entropy(model(x), y)"),
        loss="loss = loss + helped",
    )


@pattern
def regions_through_calls(n: int) -> Program:
    """The same through functions."""
    return script(
        before="def region(wanted):\n    return torch.autocast('cuda') if wanted else contextlib.nullcontext()\n\n"
        + chained(
            n,
            "def part{i}(x):\n    with region(len(sys.argv) > {i}):\n        return part{next}(x)",
            "return model(x)",
        ),
        loss="loss = loss + F.cross_entropy(part0(x), y)",
    )


@pattern
def scaled_losses(n: int) -> Program:
    """A scaler, and many losses that it scales."""
    return script(
        before="scaler = torch.amp.GradScaler('cuda')",
        loss="with torch.autocast('cuda', dtype=torch.float16):\n"
        + repeated(n, "    loss = loss + criterion(model(x), y) * 0.{next}")
        + "\nscaler.scale(loss).backward(retain_graph=True)\nscaler.unscale_(optimizer)",
    )


@pattern
def types_chosen(n: int) -> Program:
    """The type to cast to is chosen by one option after the other."""
    return script(
        before="dtype = torch.float32\n"
        + repeated(
            n,
            'if "--type{i}" in sys.argv:',
            "    dtype = torch.float16 if dtype == torch.float32 else torch.bfloat16",
        ),
        loss="with torch.autocast(device.type, dtype=dtype):\n    loss = loss + criterion(model(x), y)",
    )


@pattern
def half_products_of_unknown(n: int) -> Program:
    """`h = h @ h` in half precision, of a tensor whose shape nobody knows."""
    return script(
        forward="h = torch.as_tensor(h)\n" + repeated(n, "h = h @ h") + "\nh = h.masked_fill(h > 1, -1e9)",
    )
