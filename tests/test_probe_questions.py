"""What probes say of models that are almost alike: of one that is right, and of its twins that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainlint import testing


def net(
    between: Callable[..., Any] | None = None, after: Callable[..., Any] | None = None, layer: Any = None
) -> Any:
    """Two linear layers with something between them, or behind; both are also told whether they train."""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 4)
            self.layer = layer or nn.Identity()

        def forward(self, x: torch.Tensor) -> Any:
            x = self.layer(torch.relu(self.first(x)))
            if between is not None:
                x = between(x, self.training)
            output = self.last(x)
            return output if after is None else after(output, self.training)

    torch.manual_seed(0)
    return Net()


def inputs() -> Any:
    import torch

    return torch.randn(6, 8)


def fails(said: str) -> Any:
    return pytest.raises(AssertionError, match=said)


def test_the_same_step_twice() -> None:
    import numpy as np
    import torch

    batch = inputs(), torch.randint(4, (6,))
    loss = torch.nn.functional.cross_entropy
    testing.assert_repeats(net(layer=torch.nn.Dropout()), batch, loss)
    testing.assert_repeats(net(lambda x, _: x * np.random.uniform(1, 2)), batch, loss)
    with fails("failed: taken twice, weights differ by up to .*: `layer` gives something else"):
        testing.assert_repeats(net(layer=_unseeded()), batch, loss)


def _unseeded() -> Any:
    import numpy as np
    from torch import nn

    class Unseeded(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * np.random.default_rng().uniform(1, 2)

    return Unseeded()


def test_smaller_batches() -> None:
    import torch
    from torch import nn

    testing.assert_takes_smaller_batches(net(), inputs())
    testing.assert_takes_smaller_batches(net(layer=nn.BatchNorm1d(16)), inputs())
    testing.assert_takes_smaller_batches(net(after=lambda x, _: (x, x.sum())), inputs())
    with fails(r"gives an output of shape \[4\] for 1 sample, in place of \[1, 4\]"):
        testing.assert_takes_smaller_batches(net(after=lambda x, _: x.squeeze()), inputs())
    with fails("raises with 1 sample: shape"):
        testing.assert_takes_smaller_batches(net(lambda x, _: x.view(6, 16)), inputs())
    with fails("raises with 3 samples"):
        testing.assert_takes_smaller_batches(net(lambda x, trains: x.view(6 if trains else -1, 16)), inputs())
    with fails("no output with one row for each sample"):
        testing.assert_takes_smaller_batches(net(after=lambda x, _: x[:2]), inputs())
    with fails("not possible here, because the batch is not the first axis"):
        testing.assert_takes_smaller_batches(_Scaled(), (inputs(), torch.ones(8)))


def _Scaled() -> Any:
    from torch import nn

    class Scaled(nn.Linear):
        def forward(self, x: Any, scale: Any = None) -> Any:
            return super().forward(x * scale)

    return Scaled(8, 4)


def test_modes() -> None:
    import torch
    from torch import nn
    from torch.nn import functional as F

    testing.assert_same_in_both_modes(net(layer=nn.Dropout(0.3)), inputs())
    testing.assert_same_in_both_modes(net(layer=nn.BatchNorm1d(16)), inputs())
    testing.assert_same_in_both_modes(net(lambda x, trains: F.dropout(x, 0.3, trains)), inputs())
    mean, variance = torch.zeros(16), torch.ones(16)
    testing.assert_same_in_both_modes(
        net(lambda x, trains: F.batch_norm(x, mean, variance, training=trains)), inputs()
    )
    testing.assert_same_in_both_modes(
        net(lambda x, trains: F.scaled_dot_product_attention(x, x, x, dropout_p=0.3 * trains)), inputs()
    )
    with fails("changes by 0.5 of its size from one mode to the other"):
        testing.assert_same_in_both_modes(net(after=lambda x, trains: x / (1 if trains else 2)), inputs())
    with fails("to the other, in `layer`"):
        testing.assert_same_in_both_modes(net(layer=_by_mode("Half")), inputs())
    with fails("not possible here, because .* a normalisation of its own, in `layer`"):
        testing.assert_same_in_both_modes(net(layer=_by_mode("OwnNorm")), inputs())
    with fails("draws random numbers in training mode besides dropout"):
        testing.assert_same_in_both_modes(
            net(lambda x, trains: x + torch.randn_like(x) if trains else x), inputs()
        )
    with fails("gives probabilities in evaluation mode"):
        testing.assert_same_in_both_modes(
            net(after=lambda x, trains: x if trains else x.softmax(-1)), inputs()
        )
    with fails("something of another form"):
        testing.assert_same_in_both_modes(
            net(after=lambda x, trains: x if trains else x.argmax(-1)), inputs()
        )


def _by_mode(name: str) -> Any:
    from torch import nn

    def forward(self: nn.Module, x: Any) -> Any:
        return x * (1 + self.training)

    return type(name, (nn.Module,), {"forward": forward})()


def own(forward: Callable[[Any], Any], backward: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """An `autograd.Function` of these."""
    import torch

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return backward(grad, ctx.saved_tensors[0])

    return lambda x, _: Own.apply(x)  # type: ignore[no-untyped-call]


def test_gradients_of_own_functions() -> None:
    import torch

    testing.assert_gradients(net(own(torch.exp, lambda grad, x: grad * x.exp())), inputs())
    for forward in (torch.round, lambda x: x.sign() * x.mean(), lambda x: (x > 0.1).to(x.dtype)):
        testing.assert_gradients(net(own(forward, lambda grad, x: grad)), inputs())
    testing.assert_gradients(net(own(lambda x: x.view_as(x), lambda grad, x: -grad)), inputs())
    with fails("failed: Own: the output moves by .* where its backward says"):
        testing.assert_gradients(net(own(torch.exp, lambda grad, x: grad * x)), inputs())
    with fails("failed: Own"):
        testing.assert_gradients(net(own(torch.exp, lambda grad, x: grad * x.exp() * 1.01)), inputs())
    with fails("not possible here, because no `autograd.Function`"):
        testing.assert_gradients(net(), inputs())
