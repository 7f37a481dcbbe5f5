"""Tensors that are made of themselves, again and again."""

from __future__ import annotations

from .program import Program, pattern, repeated, script


@pattern
def squares(n: int) -> Program:
    """`x = x * x` in a model."""
    return script(forward=repeated(n, "h = h * h"))


@pattern
def squared_scores(n: int) -> Program:
    """`x = x * x` between the model and the loss, where its shape is asked for."""
    return script(
        scores=repeated(n, "scores = scores * scores"),
        loss="loss = loss + F.mse_loss(scores, F.one_hot(y, 32).float())",
    )


@pattern
def squared_targets(n: int) -> Program:
    """`x = x * x` of numbers that are drawn, on both sides of a loss."""
    return script(
        step="noise = torch.randn(8, 32)\naim = torch.zeros(8, 32)\n"
        + repeated(n, "noise = noise * noise", "aim = aim + aim"),
        loss="loss = loss + F.mse_loss(model(noise) * noise, aim) + F.l1_loss(noise, aim)",
    )


@pattern
def diamonds(n: int) -> Program:
    """`x = f(x) + g(x)`."""
    return script(forward=repeated(n, "h = torch.relu(h) + torch.tanh(h)"))


@pattern
def plus_activation(n: int) -> Program:
    """`h = h + relu(h)`."""
    return script(forward=repeated(n, "h = h + torch.relu(h)"))


@pattern
def gates(n: int) -> Program:
    """`h = h * sigmoid(h) + h * (1 - sigmoid(h))`."""
    return script(forward=repeated(n, "g = torch.sigmoid(h)", "h = h * g + torch.tanh(h) * (1 - g)"))


@pattern
def butterflies(n: int) -> Program:
    """`a, b = a + b, a - b`."""
    return script(
        forward="a, b = h.chunk(2, dim=-1)\n"
        + repeated(n, "a, b = a + b, a - b")
        + "\nh = torch.cat((a, b), -1)"
    )


@pattern
def fibonacci(n: int) -> Program:
    """Each tensor is the sum of the two before."""
    return script(forward="a = b = h\n" + repeated(n, "a, b = b, a + b") + "\nh = b")


@pattern
def attention_by_hand(n: int) -> Program:
    """`h = softmax(h @ h.T) @ h`."""
    return script(forward=repeated(n, "h = torch.softmax(h @ h.transpose(-2, -1), dim=-1) @ h"))


@pattern
def matrix_powers(n: int) -> Program:
    """`p = p @ p`."""
    return script(
        before="power = torch.eye(32)\n" + repeated(n, "power = power @ power"),
        scores="scores = scores @ power",
    )


@pattern
def where_sides(n: int) -> Program:
    """`x = where(x > 0, x, -x)`."""
    return script(forward=repeated(n, "h = torch.where(h > 0, h, -h)"))


@pattern
def joined_to_itself(n: int) -> Program:
    """`x = cat([x, x])`, and the half of it."""
    return script(forward=repeated(n, "h = torch.cat([h, h], dim=-1)", "h = h[:, :32]"))


@pattern
def stacked_with_itself(n: int) -> Program:
    """`x = stack((x, x)).mean(0)`."""
    return script(forward=repeated(n, "h = torch.stack((h, torch.relu(h), torch.tanh(h))).mean(0)"))


@pattern
def clamped(n: int) -> Program:
    """Probabilities, clamped again and again."""
    return script(
        scores="scores = torch.softmax(scores, dim=-1)\n"
        + repeated(n, "scores = scores.clamp(min=1e-{next})")
        + "\nscores = torch.log(scores)"
    )


@pattern
def clamped_branches(n: int) -> Program:
    """Probabilities, clamped where somebody asks for it."""
    return script(
        scores="scores = torch.sigmoid(scores)\n"
        + repeated(n, "if x.size(0) > {i}:", "    scores = scores.clamp(1e-{next}, 1 - 1e-{next})"),
        loss="loss = loss + F.binary_cross_entropy(scores, torch.ones_like(scores))",
    )


@pattern
def logarithms(n: int) -> Program:
    """`x = log(exp(x))`: each turns what the other means."""
    return script(
        scores="scores = torch.log_softmax(scores, -1)\n"
        + repeated(n, "scores = torch.log(torch.exp(scores))")
    )


@pattern
def softmax_of_softmax(n: int) -> Program:
    """One softmax after the other."""
    return script(
        scores=repeated(n, "scores = torch.softmax(scores, dim=-1) + torch.softmax(-scores, dim=-1)")
    )


@pattern
def views(n: int) -> Program:
    """Views and permutations of views and permutations."""
    return script(
        forward="h = h.view(h.size(0), 4, 8)\n"
        + repeated(n, "h = h.permute(0, 2, 1).reshape(h.size(0), h.size(2), h.size(1))")
        + "\nh = h.reshape(h.size(0), 32)"
    )


@pattern
def views_of_own_sizes(n: int) -> Program:
    """Each view is told the sizes of the one before."""
    return script(
        forward="h = h.view(-1, 4, 8)\n"
        + repeated(n, "h = h.view(h.shape[0], h.shape[1], h.shape[2])", "h = h.transpose(1, 2)")
        + "\nh = h.reshape(-1, 32)"
    )


@pattern
def sizes_multiplied(n: int) -> Program:
    """A view by sizes that are products of products."""
    return script(
        forward="k, m = h.size(0), h.size(1)\nt = h.view(k, m, 1)\n"
        + repeated(n, "m = m * m")
        + "\nt = t.view(k, -1, m)\nt = t.reshape(k, m, k * m)\nh = h + t.mean()"
    )


@pattern
def swapped_back_and_forth(n: int) -> Program:
    """`x.transpose(0, 1)`, over and over, between layers."""
    return script(forward=repeated(n, "h = torch.relu(h.transpose(0, 1)).transpose(0, 1).contiguous()"))


@pattern
def indexed(n: int) -> Program:
    """Each index is found with the tensor before."""
    return script(
        forward=repeated(n, "order = h.argsort(dim=-1)", "h = h.gather(-1, order) + h[:, order[0]]")
    )


@pattern
def written_in_place(n: int) -> Program:
    """A tensor that is changed in place by what was read from it."""
    return script(
        forward="h = h.clone()\n" + repeated(n, "h[:, {i} % 32] += h[:, {next} % 32].sum()", "h.mul_(h)")
    )


@pattern
def detached_and_attached(n: int) -> Program:
    """`h = h + (q - h).detach()`, the straight-through trick, over and over."""
    return script(forward=repeated(n, "q = torch.round(h)", "h = h + (q - h).detach()"))


@pattern
def drawn_from_before(n: int) -> Program:
    """On the host: `v = v + v` of a tensor that the model reads numbers from."""
    return script(
        forward="v = torch.zeros(1)\n"
        + repeated(n, "v = v + v")
        + "\nh = h * v.item()\nif v.sum() > 0:\n    h = h + 1"
    )


@pattern
def moved_back_and_forth(n: int) -> Program:
    """From one device to the other and back."""
    return script(step=repeated(n, "x = (x + x.cpu().to(device)).to(x.device)"))


@pattern
def einsums(n: int) -> Program:
    """`h = einsum(h, h)`."""
    return script(forward=repeated(n, 'h = torch.einsum("bi,bj->bj", h, h)'))


@pattern
def normalised_by_hand(n: int) -> Program:
    """`h = (h - h.mean()) / h.std()`."""
    return script(
        forward=repeated(n, "h = (h - h.mean(-1, keepdim=True)) / (h.std(-1, keepdim=True) + 1e-5)")
    )


@pattern
def log_sum_exp(n: int) -> Program:
    """`x = x - x.max() - (x - x.max()).exp().sum().log()`."""
    return script(
        scores=repeated(
            n,
            "top = scores.amax(-1, keepdim=True)",
            "scores = scores - top - (scores - top).exp().sum(-1, keepdim=True).log()",
        )
    )


@pattern
def chunks_crossed(n: int) -> Program:
    """Halves that are computed from each other, as in a reversible network."""
    return script(
        init="self.f, self.g = nn.Linear(16, 16), nn.Linear(16, 16)",
        forward="a, b = h.chunk(2, dim=-1)\n"
        + repeated(n, "a = a + self.f(b)", "b = b + self.g(a)")
        + "\nh = torch.cat((a, b), -1)",
    )


@pattern
def divergence_times_squares(n: int) -> Program:
    """`a = a * a`, which scales a divergence."""
    return script(
        scores="a = torch.ones(())\n" + repeated(n, "a = a * a"),
        loss="loss = loss + F.kl_div(F.log_softmax(scores, -1), F.softmax(x, -1)) * a",
    )


@pattern
def weights_made_of_weights(n: int) -> Program:
    """`a, b = a * b, b * a`, by which a difference is weighted."""
    return script(
        scores="a, b = torch.ones(8, 32), torch.ones(8, 32)\n" + repeated(n, "a = a * b", "b = b * a"),
        loss="loss = loss + (a * b * (scores - F.one_hot(y, 32)) ** 2).mean()",
    )
