"""Which device a value may be."""

from __future__ import annotations

from trainlint.facts.values import Constant, Items, Op, Value, alternatives


def may_be_on(device: Value | None, kind: str, depth: int = 0) -> bool:
    """Whether a device, or the name of one, is of this kind (`mps`, `cuda`, ...) on some way that is known."""
    for one in alternatives(device):
        match one:
            case Constant(value=str(name)) if name.partition(":")[0] == kind:
                return True
            case Op(name="device", inputs=(inner, *_)) if depth < 6 and not isinstance(inner, Items):
                if may_be_on(inner, kind, depth + 1):
                    return True
            case Op(name="or" | "and") if depth < 6:
                if any(may_be_on(inner, kind, depth + 1) for inner in one.inputs):
                    return True
    return False
