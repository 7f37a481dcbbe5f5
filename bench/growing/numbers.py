"""Plain numbers, strings and truth values that are made of themselves."""

from __future__ import annotations

from .program import Program, pattern, repeated, script


@pattern
def big_numbers(n: int) -> Program:
    """`k = k * k` of a number that is known."""
    return script(top="k = 3\n" + repeated(n, "k = k * k"), step="if k > 5:\n    x = x + 0")


@pattern
def powers(n: int) -> Program:
    """`k = k ** k` of a number that is known."""
    return script(top="k = 2\n" + repeated(n, "k = k ** 2"), step="if k > 5:\n    x = x + 0")


@pattern
def shifted(n: int) -> Program:
    """`k = k << k`."""
    return script(top="k = 3\n" + repeated(n, "k = k << k"), step="if k:\n    x = x + 0")


@pattern
def doubled_numbers(n: int) -> Program:
    """`k = k + k` of a number that is not known."""
    return script(
        top="k = len(sys.argv)\n" + repeated(n, "k = k + k"),
        step="x = x.view(-1, 32) / k\nif k > 5:\n    x = x + 0",
    )


@pattern
def powers_of_unknown(n: int) -> Program:
    """`k = k ** k` of a number that is not known, and scores filled with it."""
    return script(
        forward="h = h.half()\nk = self.last.weight.shape[0]\n"
        + repeated(n, "k = k**k")
        + "\nh = h.masked_fill(h > 1, -k).float()"
    )


@pattern
def half_times_numbers(n: int) -> Program:
    """Scores in half precision, scaled by numbers that are made of each other."""
    return script(
        made="model = model.half()",
        forward="k = h.size(-1) / 2\n"
        + repeated(n, "k = k * k + k")
        + "\nh = (h * k).masked_fill(h > 1, -1e9)",
    )


@pattern
def long_strings(n: int) -> Program:
    """`s = s + s`."""
    return script(
        top='name = "ab"\n' + repeated(n, "name = name + name"), step='if name == "x":\n    x = x + 0'
    )


@pattern
def formatted_strings(n: int) -> Program:
    """`s = f"{s}{s}"`."""
    return script(
        top='name = "ab"\n' + repeated(n, 'name = f"{{name}}-{{name}}"'),
        step='if name == "x":\n    x = x + 0',
    )


@pattern
def multiplexed(n: int) -> Program:
    """`k = (k and a) or (not k and b)`."""
    return script(
        top="k, a, b = flag, other, len(sys.argv) > 3\n" + repeated(n, "k = (k and a) or (not k and b)"),
        step="if k:\n    model.eval()",
    )


@pattern
def compared(n: int) -> Program:
    """`k = (k == a) != (k == b)`."""
    return script(
        top="k, a, b = flag, other, 3\n" + repeated(n, "k = (k == a) != (k == b)"),
        step="if k:\n    model.eval()",
    )


@pattern
def negated(n: int) -> Program:
    """`k = not k`."""
    return script(top="k = flag\n" + repeated(n, "k = not k"), step="if k:\n    model.eval()")


@pattern
def conjunctions(n: int) -> Program:
    """One test of many parts."""
    return script(
        step="if " + " and ".join(f"y.size(0) > {i}" for i in range(n)) + ":\n    x = torch.relu(x)"
    )


@pattern
def conditional_numbers(n: int) -> Program:
    """`k = k if flag else k + 1`, and the dropout goes by it."""
    return script(
        top="rate = 0.1\n" + repeated(n, "rate = rate if flag else rate + 0.0{next}"),
        forward="h = F.dropout(h, rate)",
    )


@pattern
def share_of_dropout(n: int) -> Program:
    """`p = p + p` for a dropout that does not ask for the mode."""
    return script(
        init="self.p = width / 100",
        forward="p = self.p\n" + repeated(n, "p = p * p + p") + "\nh = F.dropout(h, p=p)",
    )


@pattern
def learning_rates(n: int) -> Program:
    """A learning rate that is worked out from itself, for every group."""
    return script(
        before="rate = optimizer.param_groups[0]['lr']\n" + repeated(n, "rate = rate * rate + rate"),
        epoch="for group in optimizer.param_groups:\n    group['lr'] = rate",
    )


@pattern
def halved_numbers(n: int) -> Program:
    """`k = k // k` of a number that is not known, and half scores scaled by it."""
    return script(
        forward="k = len(sys.argv)\n"
        + repeated(n, "k = k // k")
        + "\nh = (h.half() * k).masked_fill(h > 1, -1e9).float()",
    )


@pattern
def share_of_dropout_of_many(n: int) -> Program:
    """`p = min(p, p, ...)`, eight times, for a dropout that does not ask for the mode."""
    return script(
        init="self.p = width / 100",
        forward="p = self.p\n" + repeated(n, f"p = min({', '.join(['p'] * 8)})") + "\nh = F.dropout(h, p=p)",
    )


@pattern
def axes_multiplied(n: int) -> Program:
    """A view that moves an axis behind one whose size is a product of products."""
    return script(
        forward="k, m, c = x.shape\nsize = len(sys.argv)\n"
        + repeated(n, "size = size * size")
        + "\nh = h + x.view(k, size, m).mean()",
    )


@pattern
def multiplexed_conditions(n: int) -> Program:
    """`k = (k or a) and (not k or b)`, and each is asked."""
    return script(
        top="k, a, b = flag, other, len(sys.argv) > 3",
        step=repeated(n, "k = (k or a) and (not k or b)", "if k:", "    x = torch.relu(x)"),
    )
