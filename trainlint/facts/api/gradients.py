"""What operations do to gradients: cut them off, have none, or keep what backward needs. Data.

Source: PyTorch's documentation, and measurements on torch 2.13.
"""

from __future__ import annotations

CUTS = frozenset(
    "detach detach_ data item numpy tolist tensor from_numpy Variable float_number int_number".split()
)
"""Operations whose result has no gradient path to their input. `Variable` of a Tensor cuts too."""


KEEPS_TENSORS = frozenset(("math.prod",))
"""The functions of Python's `math` that hand a tensor on; all others give plain numbers."""


REBUILDS = frozenset(
    "tensor Tensor FloatTensor DoubleTensor HalfTensor Variable from_numpy as_tensor".split()
)
"""Constructors: the ones not in `CUTS` keep the graph of a tensor, but not of a list of tensors."""


INTEGERS = frozenset("LongTensor IntTensor ShortTensor CharTensor ByteTensor BoolTensor".split())
"""Constructors of tensors that can have no gradient, whatever they are given."""


NO_GRADIENT = INTEGERS | frozenset(
    "argmax argmin eq ne lt le gt ge == != < <= > >= in is round floor ceil sign long int bool byte short "
    "shape size dim ndim numel dtype device isnan isinf isfinite one_hot topk_indices bincount randint "
    "multinomial bernoulli poisson len zeros_like ones_like rand_like randn_like full_like empty_like "
    "new_zeros new_ones new_tensor new_full new_empty argsort searchsorted bucketize nonzero unique is_floating_point "
    "any all not and or isclose allclose equal state_dict torch.distributions.sample".split()
)
"""Operations through which no gradient flows, by their nature rather than by a mistake."""


WITH_INDICES = frozenset("max min topk sort median mode kthvalue cummax cummin".split())
"""Operations that give values and indices; no gradient flows through the indices."""


DRAWN = "torch.distributions.sample"
"""What `sample()` of a distribution of torch's gives: unlike `rsample()`, it has no gradient."""


SAVES_RESULT = frozenset(
    "sigmoid tanh exp softmax log_softmax sqrt relu torch.nn.ReLU torch.nn.Tanh torch.nn.Sigmoid".split()
)
"""Operations that keep their result for the backward pass."""


FLAT = frozenset("round floor ceil sign trunc".split())
"""Steps whose gradient is zero wherever it exists."""


STEPS = FLAT | frozenset(
    "argmax argmin argsort eq ne lt le gt ge == != < <= > >= long int short byte bool one_hot bincount isclose".split()
)
"""Operations on tensors whose result changes by leaps."""


CHECKPOINTS = frozenset(("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"))
