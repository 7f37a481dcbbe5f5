from collections.abc import Iterator
from itertools import product

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe

_F = "torch.nn.functional"


def fix(finding: Finding) -> Iterator[Proposal]:
    inside = [one.at for one in finding.because if one.at.path == finding.at.path]
    if all(finding.at.line <= at.line and at.end_line <= finding.at.end_line for at in inside):
        instead = finding.clues.get("instead", "")
        if instead in _CASES:
            yield safe(f"Replace with {instead}", Rewrite(finding.at, tuple(_CASES[instead])))


def _log(*inner: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Of each: what its log is."""
    for one, instead in inner:
        yield f"torch.log({one})", instead
        yield f"({one}).log()", instead


def _log_softmax() -> Iterator[tuple[str, str]]:
    yield from _log(
        ("torch.softmax(_x, *_more)", "torch.log_softmax(_x, *_more)"),
        (f"{_F}.softmax(_x, *_more)", f"{_F}.log_softmax(_x, *_more)"),
        ("torch.nn.Softmax(_dim)(_x)", f"{_F}.log_softmax(_x, _dim)"),
        ("torch.nn.Softmax(dim=_dim)(_x)", f"{_F}.log_softmax(_x, dim=_dim)"),
    )


def _log_sigmoid() -> Iterator[tuple[str, str]]:
    for one in ("torch.sigmoid(_x)", f"{_F}.sigmoid(_x)", "_x.sigmoid()", "torch.nn.Sigmoid()(_x)"):
        yield from _log((one, f"{_F}.logsigmoid(_x)"))


def _log_one_plus() -> Iterator[tuple[str, str]]:
    yield from _log(("1 + _x", "torch.log1p(_x)"), ("_x + 1", "torch.log1p(_x)"))


def _softplus() -> Iterator[tuple[str, str]]:
    for exp in _EXP:
        yield from _log((f"1 + {exp}", f"{_F}.softplus(_x)"), (f"{exp} + 1", f"{_F}.softplus(_x)"))


def _expm1() -> Iterator[tuple[str, str]]:
    return ((f"{exp} - 1", "torch.expm1(_x)") for exp in _EXP)


def _logsumexp() -> Iterator[tuple[str, str]]:
    for exp, given in product(_EXP, _OVER):
        new = f"torch.logsumexp(_x, {given})"
        yield from _log((f"torch.sum({exp}, {given})", new), (f"{exp}.sum({given})", new))


def _softmax() -> Iterator[tuple[str, str]]:
    for exp, dim in product(_EXP, ("dim=_dim", "_dim")):
        new = f"torch.softmax(_x, {dim})"
        yield f"{exp} / torch.sum({exp}, {dim}, keepdim=True)", new
        yield f"{exp} / {exp}.sum({dim}, keepdim=True)", new


_EXP = ("torch.exp(_x)", "_x.exp()")
_OVER = ("dim=_dim", "_dim", "dim=_dim, keepdim=_keep", "_dim, keepdim=_keep", "_dim, _keep")
_CASES = {
    "F.log_softmax": [*_log(("_x.softmax(*_more)", "_x.log_softmax(*_more)")), *_log_softmax()],
    "F.logsigmoid": [*_log_sigmoid()],
    "torch.log1p": [*_log_one_plus()],
    "F.softplus": [*_softplus()],
    "torch.expm1": [*_expm1()],
    "torch.logsumexp": [*_logsumexp()],
    "torch.softmax": [*_softmax()],
}
