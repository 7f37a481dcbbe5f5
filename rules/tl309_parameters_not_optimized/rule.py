from collections.abc import Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.seen.gradients import Gradient
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule

from .adapters import adapted_later
from .bare import bare_left_out
from .configured import configured_left_out
from .copied import copy_trained
from .frozen_head import frozen_head
from .left_out import LeftOut, model_left_out, part_left_out
from .loaded_adapters import loaded_frozen
from .loose import loose_left_out
from .replaced import made_again
from .twins import mistaken
from .unfrozen import unfrozen


@rule(Training, level="error", confidence="likely", absence=True)
def check(training: Training) -> Iterator[Finding | Open]:
    yield from _in_run(training) if isinstance(training, Recorded) else _in_source(training)


def _in_source(training: Training) -> Iterator[Finding]:
    found = (
        part_left_out(training)
        or model_left_out(training)
        or loose_left_out(training)
        or configured_left_out(training)
    )
    if found is not None and not (
        found.is_held and found.is_body
    ):  # who makes the object may have loaded its body
        yield _left_out(found)
    elif (wrong := mistaken(training)) is not None:
        yield Finding(
            wrong.at,
            "This optimizer has the same parameters as another optimizer, while the model that gets the gradients is in no "
            "optimizer, so it never learns. Pass each optimizer the parameters of the model that it trains.",
            (Because(wrong.backward, "these gradients are for no parameter of any optimizer"),),
        )
    elif (again := made_again(training)) is not None:
        yield Finding(
            again.optimizer,
            "The model of this optimizer is made again after it, so it updates the one that was discarded, and the one "
            "that is trained never learns. Create the optimizer from the final model.",
            (Because(again.model, "the model that gets the gradients is created here"),),
            confidence="likely" if again.by else None,
            doubt=f"`{again.by}` is not in sight: it may give the same model each time" if again.by else "",
        )
    elif (copied := copy_trained(training)) is not None:
        yield Finding(
            copied.optimizer,
            "What is trained is a copy of the model whose parameters this optimizer holds. Nothing trains that model, and no "
            "optimizer holds the copy, so neither learns. Create the optimizer from the copy, or train the model itself.",
            (Because(copied.copy, "the copy that gets the gradients is made here"),),
        )
    elif (adapted := adapted_later(training)) is not None:
        yield Finding(
            adapted.optimizer,
            "The model of this optimizer is given adapters after it: all that it holds is frozen then, and the adapters are in "
            "no param group, so nothing is trained. Create the optimizer from the model with its adapters.",
            (Because(adapted.at, "the adapters are added here"),),
        )
    elif (loaded := loaded_frozen(training)) is not None:
        yield Finding(
            loaded.at,
            "These adapters are loaded frozen, as for inference, and so is the model below them: the optimizer has nothing to "
            "train. Pass `is_trainable=True`.",
            (Because(loaded.optimizer, "the optimizer is created here"),),
        )
    elif (bare := bare_left_out(training)) is not None:
        yield Finding(
            bare.optimizer,
            "A parameter that the loss is made of is in no optimizer's param groups, so it keeps its initial value. Add it to the "
            "optimizer, or make it a constant.",
            (Because(bare.at, "the untrained parameter is created here"),),
        )
    elif (late := unfrozen(training)) is not None:
        yield Finding(
            late.at,
            "These parameters are unfrozen, but the optimizer was created without them while they were frozen, so they "
            "get gradients and never change. Add them with `add_param_group`, or create the optimizer anew.",
            (Because(late.optimizer, "the optimizer is created here"),),
        )
    elif (head := frozen_head(training)) is not None:
        yield Finding(
            head.at,
            f"The new `{head.layer.type.removeprefix('torch.')}` is frozen with the rest of the model, so it keeps its "
            "random initial weights. Put it in after the model is frozen, or unfreeze it.",
            (Because(head.layer.at, "it is created here"),) if head.layer.at not in (None, head.at) else (),
            confidence=None if head.is_trained else "likely",
            doubt="" if head.is_trained else "code that is not in sight may unfreeze it later",
        )


def _left_out(found: LeftOut) -> Finding:
    first, rest = found.layers[0], len(found.layers) - 1
    names = f"this model's `{first.type.removeprefix('torch.')}`" + (
        f" and {rest} more layers" if rest else ""
    )
    mistake = (
        "has the same parameters as another optimizer"
        if found.has_twin
        else "has the parameters of a model that is never called"
    )
    if found.is_beside:
        said = (
            f"The parameters of `{first.type.removeprefix('torch.')}`"
            + (f" and {rest} more layers" if rest else "")
            + " take part in the loss beside the model of this optimizer, but are in no optimizer's param groups, "
            "so they keep their initial values. Add them to the optimizer, or freeze them with `requires_grad_(False)`."
        )
    elif found.is_later:
        said = (
            f"The parameters of {names} are not in any optimizer's param groups: this optimizer was created before "
            "these layers came into the model, and it goes on with those that it was given. Create the optimizer when the "
            "model has its final layers, or pass it the new parameters with `add_param_group`."
        )
    elif found.is_part:
        said = (
            f"The parameters of {names} take part in the loss and get gradients, but are not in any "
            "optimizer's param groups, so they keep their initial values. Add them to the optimizer, or "
            "freeze them with `requires_grad_(False)`."
        )
    else:
        said = (
            f"This optimizer {mistake}, while the model that gets the gradients is in no optimizer, so it "
            "never learns. Pass each optimizer the parameters of the model that it trains."
        )
    made = (
        (Because(first.at, "the untrained parameters are created here"),)
        if first.at not in (None, found.at)
        else ()
    )
    return Finding(
        found.at,
        said,
        made,
        level="warning" if found.is_body else None,
        doubt="who makes this object is not in sight, and may train these layers too"
        if found.is_held
        else "",
    )


def _in_run(recorded: Recorded) -> Iterator[Finding | Open]:
    optimizers = {one.number: one for one in recorded.facts(OptimizerSeen)}
    if recorded.ending.by_hand:  # a target network, or a whole model, is updated this way
        yield from _mistaken(recorded.facts(ParameterSeen), list(optimizers.values()))
        return
    models: dict[int, list[ParameterSeen]] = {}
    for one in recorded.facts(ParameterSeen):
        if one.trainable:
            models.setdefault(one.model, []).append(one)
    for parameters in models.values():
        left = [one for one in parameters if _is_left_out(one)]
        held = [one for one in parameters if one.optimizers]
        if left and held:
            yield from _some(left, held, parameters, optimizers)
    yield from _frozen(recorded.facts(ParameterSeen), list(optimizers.values()))
    yield from _untouched(models, optimizers)
    if any(one.optimizers or one.stepped for one in recorded.facts(ParameterSeen)):
        yield from _mistaken(recorded.facts(ParameterSeen), list(optimizers.values()))
        return
    trained = [one for parameters in models.values() for one in parameters if _is_left_out(one)]
    for optimizer in optimizers.values():
        if trained and optimizer.steps and optimizer.elsewhere == optimizer.parameters == optimizer.idle:
            yield from _other_model(optimizer, trained)


def _untouched(
    models: dict[int, list[ParameterSeen]], optimizers: dict[int, OptimizerSeen]
) -> Iterator[Finding | Open]:
    """Models that get gradients and are in no optimizer, beside one that is: a fixed part of a loss looks the same, unless
    its parameters have nothing in them yet."""
    left = [seen for seen in models.values() if all(map(_is_left_out, seen))]
    for seen in left if len(left) < len(models) else ():
        held = [one for other in models.values() for one in other if one.optimizers]
        if all(map(_is_constant, seen)):
            yield from _some(seen, held, seen, optimizers)
    places = {one.at or one.step_at for one in optimizers.values() if one.steps}
    if left and len(left) < len(models):
        name = left[0][0].name
        for at in places:
            if at is not None:
                yield Open(at, f"whether the model with `{name}` is to keep its weights: it gets gradients")


def _is_constant(one: ParameterSeen) -> bool:
    """Whether all of its elements are the same: it was neither drawn at random nor loaded."""
    return one.start is not None and one.start.smallest == one.start.largest


def _is_left_out(one: ParameterSeen) -> bool:
    used = one.alive or (one.gradient is not None and one.gradient.norm > 0)
    return used and not one.optimizers and not one.stepped and not one.moved


def _some(
    left: list[ParameterSeen],
    held: list[ParameterSeen],
    all_of_it: list[ParameterSeen],
    optimizers: dict[int, OptimizerSeen],
) -> Iterator[Finding]:
    holders = [optimizers[number] for one in held for number in one.optimizers if number in optimizers]
    stepped = next((one for one in holders if one.steps), None)
    at = (stepped.at or stepped.step_at) if stepped is not None else None
    if stepped is None or at is None:
        return
    first, rest = left[0], len(left) - 1
    names = f"`{first.name}`" + (f" and {rest} more" if rest else "")
    made = next((one.at for one in left if one.at is not None and one.at != at), None)
    yield Finding(
        at,
        f"{names} take part in the loss and get gradients, but are not in any optimizer's param groups, so "
        "they keep their initial values. Add them to the optimizer, or freeze them with "
        "`requires_grad_(False)`.",
        (Because(made, "they are created here"),) if made is not None else (),
        level="warning" if _is_probe(left, held) else None,
        subject=_common(left),
        evidence={
            "parameters without an optimizer": len(left),
            "of": len(all_of_it),
            **_norm([one.gradient for one in left if one.gradient is not None]),
        },
    )


def _norm(gradients: list[Gradient]) -> dict[str, float]:
    return {"their gradient norm": sum(one.norm**2 for one in gradients) ** 0.5} if gradients else {}


def _is_probe(left: list[ParameterSeen], held: list[ParameterSeen]) -> bool:
    """Whether only the end of the model is trained, as when a head is put on a backbone that is not trained."""
    ends = [one.order for one in held if one.order is not None]
    before = [one.order for one in left if one.order is not None]
    return bool(ends and before) and max(before) < min(ends)


def _other_model(optimizer: OptimizerSeen, trained: list[ParameterSeen]) -> Iterator[Finding]:
    at = optimizer.at or optimizer.step_at
    if at is None:
        return
    made = next((one.at for one in trained if one.at is not None and one.at != at), None)
    yield Finding(
        at,
        f"None of the {optimizer.parameters} parameters of this optimizer belongs to the model that the loss "
        "is computed with, so that model never learns. Create the optimizer from the trained model, once the "
        "model has its final parameters.",
        (Because(made, "the model that gets the gradients is created here"),) if made is not None else (),
        evidence={
            "parameters held": optimizer.parameters,
            "with a gradient": 0,
            "gradients elsewhere": len(trained),
        },
    )


def _frozen(parameters: list[ParameterSeen], optimizers: list[OptimizerSeen]) -> Iterator[Finding]:
    """Optimizers none of whose parameters requires a gradient, while others of the model get one and are in none."""
    for one in optimizers:
        held = [known for known in parameters if one.number in known.optimizers]
        at = one.at or one.step_at
        is_idle = one.steps > 0 and len(held) == one.parameters == one.idle
        if at is None or not is_idle or any(known.trainable or known.reached for known in held):
            continue
        models = {known.model for known in held}
        left = [
            known for known in parameters if known.model in models and known.trainable and _is_left_out(known)
        ]
        if left:
            rest = f" and {len(left) - 1} more" if len(left) > 1 else ""
            yield Finding(
                at,
                f"No parameter of this optimizer requires a gradient, so its step changes nothing, while "
                f"`{left[0].name}`{rest} get gradients and are not in any optimizer's param groups. Freeze "
                "before the optimizer is created, and pass it the parameters that still require a gradient.",
                (Because(left[0].at, "they are created here"),) if left[0].at not in (None, at) else (),
                subject=_common(left),
                evidence={"parameters held": one.parameters, "that require a gradient": 0},
            )


def _mistaken(parameters: list[ParameterSeen], optimizers: list[OptimizerSeen]) -> Iterator[Finding]:
    """Optimizers that hold the wrong model, while another one gets gradients and is in no optimizer."""
    taken = {one.model for one in parameters if one.optimizers or one.stepped or one.moved}
    left = next((one for one in parameters if one.trainable and one.alive and one.model not in taken), None)
    if left is None:
        return
    held = {
        one.number: frozenset(
            (known.model, known.name) for known in parameters if one.number in known.optimizers
        )
        for one in optimizers
        if one.steps
    }
    reached = {(one.model, one.name) for one in parameters if one.reached}
    for number, one in enumerate(optimizers):
        names, at = held.get(one.number), one.at or one.step_at
        if names is None or at is None:
            continue
        if one.idle == one.parameters and not names & reached:
            yield _wrong(one, at, left, "and none of them gets a gradient")
            return
        twins = [other for other in optimizers[:number] if other.type == one.type and other.at != one.at]
        if names and any(held.get(other.number) == names for other in twins):
            yield _wrong(one, at, left, "and another optimizer has the same ones")
            return


def _wrong(optimizer: OptimizerSeen, at: Place, left: ParameterSeen, why: str) -> Finding:
    return Finding(
        at,
        f"This optimizer has {optimizer.parameters} parameters, {why}, while the model with `{left.name}`, "
        "which does get gradients, is in no optimizer. Pass each optimizer the parameters of the model that "
        "it trains.",
        (Because(left.at, "the untrained model is created here"),) if left.at is not None else (),
        evidence={"parameters held": optimizer.parameters, "without a gradient": optimizer.idle},
    )


def _common(left: list[ParameterSeen]) -> str:
    """The module that holds all of them, or the first one's own name."""
    modules = {one.module for one in left}
    return modules.pop() or left[0].name if len(modules) == 1 and len(left) > 1 else left[0].name
