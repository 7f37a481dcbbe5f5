"""Whether a call fits the parameters of a function."""

from __future__ import annotations

from trainlint.facts.model.values import Items
from trainlint.program.evaluate.values import Arguments, FunctionValue


def raises_at_once(func: FunctionValue, given: Arguments) -> bool:
    """Whether Python refuses a call: more arguments than parameters, or one of a name that there is not."""
    parameters = func.code.parameters
    if func.code.decorators or any(isinstance(one, Items) and one.kind == "star" for one in given.args):
        return False
    stars = {one.star for one in parameters}
    plain = [one for one in parameters if not one.star and not one.keyword_only]
    has_too_many = "*" not in stars and len(given.args) > len(plain)
    names = {one.name for one in parameters}
    return has_too_many or ("**" not in stars and not names.issuperset(given.options))
