"""How names, attributes and entries are written, as those who use them tell them apart."""

from __future__ import annotations

from trainlint.program.source import syntax as s


def spelled(node: s.Expr, depth: int = 2) -> str | None:
    """`net`, `self.net`, `self.parts["net"]`: how a plain name, its attribute, or an entry of a dict is written."""
    match node:
        case s.Name(name=name):
            return name
        case s.Attribute(value=s.Attribute(), name="module"):
            return None  # of a wrapper
        case s.Attribute(value=inner, name=name) if (
            depth and (owner := spelled(inner, depth - 1)) is not None
        ):
            return f"{owner}.{name}"
        case s.Subscript(value=inner, index=s.Constant(value=str(key))) if depth:
            owner = spelled(inner, depth - 1)
            return f"{owner}[{key}]" if owner is not None else None
    return None
