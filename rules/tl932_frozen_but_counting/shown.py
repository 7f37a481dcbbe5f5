"""What a run shows of frozen batch norms: that they were called in training mode, in a model of which other parts learn."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.layers import BATCH_NORMS, CONTAINERS
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import constant
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding, Level, Place


def counting(recorded: Recorded) -> Iterator[Finding]:
    """Of each model that an optimizer steps, the batch norms that are frozen and were trained through."""
    models: dict[int, list[ParameterSeen]] = {}
    for one in recorded.facts(ParameterSeen):
        models.setdefault(one.model, []).append(one)
    for number, parameters in models.items():
        if not any(one.trainable and one.stepped for one in parameters):
            continue
        modules = [one for one in recorded.facts(ModuleSeen) if one.number == number]
        norms = [
            one for one in modules if one.training and one.type in BATCH_NORMS and _is_frozen(one, parameters)
        ]
        at = _frozen_at(recorded) or next((one.at for one in norms if one.at is not None), None)
        if not norms or at is None:
            continue
        rest = f" and {len(norms) - 1} more" if len(norms) > 1 else ""
        yield Finding(
            at,
            f"`{norms[0].path}`{rest} are frozen and were called in training mode: these batch norms still replace their running "
            "statistics by those of the new data, so what was frozen changes. Call `eval()` on the frozen part after each "
            "`train()`.",
            level=_level(modules, parameters),
            evidence={"frozen batch norms in training mode": len(norms)},
        )


def _is_frozen(norm: ModuleSeen, parameters: list[ParameterSeen]) -> bool:
    """Whether it has parameters, none of which anything changes: those of a teacher follow its student, and those of a network
    that is only held still while another one learns are in an optimizer."""
    own = [one for one in parameters if one.module == norm.path]
    return bool(own) and not any(one.trainable or one.moved or one.reached or one.optimizers for one in own)


def _frozen_at(recorded: Recorded) -> Place | None:
    """The only place where parameters are frozen; None where there are several, or none."""
    places = {one.at for one in recorded.events(RequiresGrad) if constant(one.wanted) is False}
    return places.pop() if len(places) == 1 else None


def _level(modules: list[ModuleSeen], parameters: list[ParameterSeen]) -> Level | None:
    """A model that only gets a new last layer, as tutorials do it, is worth an info."""
    trained = {one.module for one in parameters if one.trainable}
    whole = next((one for one in modules if not one.path), None)
    is_own = whole is None or whole.type in CONTAINERS
    return "info" if len(trained) == 1 and not is_own and "." not in next(iter(trained)) else None
