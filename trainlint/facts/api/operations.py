"""Operations on tensors by what they do, and by what asks for them. Data.

Source: PyTorch's documentation, and measurements on torch 2.13.
"""

from __future__ import annotations

from trainlint.facts.api.layers import EMBEDDING

OWN_NAMES = frozenset(
    "alias call data enumerate filter float_number framework getattr getitem grad int_number isinstance items iterate "
    "layers output parameters range scale setitem state_dict values zip".split()
)
"""Operations that no function makes, of torch's or of the program's: they are named for what happens to a value."""


NOT_METHODS = frozenset(
    "Tensor Variable as_tensor bilinear bucketize cat concat conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d einsum empty_like from_numpy full_like gumbel_softmax hstack identity linear logsigmoid one_hot "
    "ones_like output rand_like randint randn_like searchsorted softmin softplus stack tensor topk_indices vstack "
    "zeros_like".split()
)
"""Operations that tensors have no method for: a method of that name is the program's own."""


TENSORS_ALONE = frozenset("item detach cpu backward grad_fn requires_grad".split())
"""Attributes by which programs tell a tensor from a number."""


CREATES = frozenset(
    "zeros ones rand randn randint full empty arange linspace eye randperm normal tril_indices triu_indices "
    "logspace normal_ manual_seed device".split()
)
"""Operations that make a fresh tensor with no history."""


EXTENDS = ("append", "extend", "insert")
"""Methods by which a list gets further items."""


FRESH = frozenset("zeros ones full empty arange linspace logspace eye rand randn randint randperm".split())
"""Operations that make a tensor on any device that they are told."""


ABOUT = frozenset(("shape", "size", "dim", "device", "dtype", "builtins.len", "numel"))
"""What tells of a tensor, and not what is in it."""

LIKE_ANOTHER = frozenset("to type_as view_as expand_as reshape_as".split())
"""Methods that a second tensor only tells the type, device or shape of the result."""

FILLS = (".fill_(…)", ".zero_(…)", ".uniform_(…)", ".random_(…)")
"""How calls of methods end that write numbers into a tensor."""


COMPARISONS = frozenset("< <= > >= lt le gt ge".split())


EQUALITIES = frozenset(("==", "eq"))


SOFTMAXES = frozenset(("softmax", "log_softmax", "softmin"))


ASKED_PLAINLY = frozenset("< <= > >= == / - data".split())
"""Operators and attributes of tensors that rules look at one by one."""


VIEWS = frozenset(("view", "reshape"))


ASKED = (
    COMPARISONS
    | VIEWS
    | {EMBEDDING}
    | SOFTMAXES
    | ASKED_PLAINLY
    | EQUALITIES
    | frozenset("log log2 log10 sqrt rsqrt reciprocal round div sub masked_fill masked_fill_".split())
)
"""Operations on tensors that rules look at one by one."""


UNMISTAKABLE = frozenset(
    "unsqueeze squeeze permute contiguous masked_fill clamp clamp_min clamp_max type_as view_as expand_as "
    "index_select".split()
)
"""Methods that nothing but a tensor has, and that leave it as it is."""


OUT_OF_PLACE = UNMISTAKABLE | frozenset(
    "view reshape flatten transpose expand repeat to cuda cpu float double half bfloat16 long detach clip abs exp "
    "sqrt softmax sigmoid tanh relu log_softmax normalize dropout".split()
)
"""Methods and functions of tensors that leave their input as it is."""


REPLACES_FIELDS = frozenset(("dataclasses.replace", "copy.replace", "attr.evolve", "attrs.evolve"))
"""Functions that make another record of one, with some other fields."""


INPLACE_AT = {"relu": 1, "dropout": 3}
"""Where functions that usually leave their input as it is take `inplace`."""


TO_HOST = frozenset(("item", "tolist", "numpy", "cpu"))
"""Methods of tensors that hand numbers to Python, or bring them to where Python can read them."""
