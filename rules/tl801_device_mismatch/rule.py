from collections.abc import Iterator

from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.interference import may_touch_anything
from trainlint.facts.ask.placement import ACCELERATOR, device_of, homes_of
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Moved
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.raised import Failure
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .loss_weights import left_behind
from .mixed import mixed

_SAID = (
    "Expected all tensors to be on the same device",
    "is not on the expected device",
    "weight type (torch.cuda",
    "Input type (torch.cuda",
    "or on the same device as the indexed tensor",
)


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    yield from _run(training) if isinstance(training, Recorded) else _read(training)


def _read(training: Training) -> Iterator[Finding]:
    """A batch that certainly is on one device, and a model that certainly is on another.

    Where unknown code runs, it may move either; weights of a loss only if it is handed that loss.
    """
    for left in left_behind(training):
        at = left.weight.at if isinstance(left.weight, Op) else None
        yield Finding(
            left.loss.at,
            f"`{left.argument}` of {left.loss.name} is on the CPU, and the prediction is on {left.home}. Move it "
            "there, or the loss object with it: `criterion.to(device)`.",
            (Because(at, "the weights are created here"),) if at is not None else (),
        )
    for one in mixed(training):
        yield Finding(
            one.at,
            f"One of these tensors is on the CPU, and the other is on {one.home}, so torch raises. Create it there: "
            "`device=other.device`.",
            (Because(one.made.at, "created on the CPU here"),) if one.made.at not in (None, one.at) else (),
        )
    if may_touch_anything(training, ()):
        return
    moves = training.events(Moved)
    known: dict[object, frozenset[str]] = {}
    said: set[tuple[int, str]] = set()
    for forward in training.events(Forward):
        model = forward.module
        if not isinstance(model, Object) or not forward.inputs or has_parameters(model) is False:
            continue
        batch = device_of(forward.inputs[0])
        if not batch or (model.uid, batch) in said:  # the first one raises
            continue
        when = (model.uid, forward.loops, tuple(training.is_after(one, forward) for one in moves))
        if when not in known:
            known[when] = homes_of(training, model, forward, accelerated=True)
        homes = known[when]
        if (
            len(homes) == 1
            and batch not in homes
            and is_apart(batch, homes)
            and not _moves_itself(training, forward)
        ):
            said.add((model.uid, batch))
            home = next(iter(homes))
            made = "the model is created here" + (", and moved later" if home != "cpu" else "")
            yield Finding(
                forward.at,
                f"The batch is on {batch}, and `{model.type.removeprefix('torch.')}` is on {home}. Move both "
                "to the same device before the call: `.to(device)` of a tensor returns a new tensor, which "
                "must be assigned.",
                (Because(model.at, made),) if model.at is not None else (),
            )


def is_apart(batch: str, homes: frozenset[str]) -> bool:
    """Whether two kinds of device certainly differ: an accelerator may be any but the CPU."""
    return ACCELERATOR not in homes or batch == "cpu"


def _moves_itself(training: Training, forward: Forward) -> bool:
    """Whether something that the model does moves its input to another device."""
    return any(
        is_made_of(move.what, forward.inputs[0])
        for move in training.events(Moved)
        if _is_within(move, forward)
    )


def _is_within(move: Moved, forward: Forward) -> bool:
    return move.calls[: len(forward.calls)] == forward.calls and len(move.calls) > len(forward.calls)


def _run(recorded: Recorded) -> Iterator[Finding]:
    failure = recorded.fatal
    said = failure.message if failure is not None else recorded.ending.error
    if not any(one in said for one in _SAID):
        return
    found = _state(recorded, said) or (
        _batch(recorded, failure) or _any(failure) if failure is not None else None
    )
    if found is not None:
        yield found


def _state(recorded: Recorded, said: str) -> Finding | None:
    """An optimizer whose state was created on another device than its parameters are on now."""
    for optimizer in recorded.facts(OptimizerSeen):
        homes = {one.device for one in recorded.facts(ParameterSeen) if optimizer.number in one.optimizers}
        strange = [one for one in optimizer.state_devices if one not in homes]
        if optimizer.at is not None and homes and strange:
            return Finding(
                optimizer.at,
                f"The state of this optimizer is on {' and '.join(strange)}, but its parameters are on "
                f"{' and '.join(sorted(homes))}, so its step raises. Move the model first, then create the "
                "optimizer or load its state.",
                evidence={
                    "state": ", ".join(strange),
                    "parameters": ", ".join(sorted(homes)),
                    "torch says": said,
                },
            )
    return None


def _batch(recorded: Recorded, failure: Failure) -> Finding | None:
    """A batch on another device than the model that is called with it, or than what its loss compares it with."""
    met = _devices(failure)
    homes = {one.device for one in recorded.facts(ParameterSeen)}
    if len(homes) != 1:
        return None
    home = homes.pop()
    for one in recorded.facts(BatchSeen):
        if one.role == "input" and one.shape and one.device != home and {one.device, home} <= met:
            return Finding(
                one.at,
                f"The batch is on {one.device}, and `{one.to}` is on {home}. Move both to the same device "
                "before the call: `.to(device)` of a tensor returns a new tensor, which must be assigned.",
                evidence={"batch": one.device, "model": home, "torch says": failure.message},
            )
    return None


def _any(failure: Failure) -> Finding | None:
    if len(_devices(failure)) < 2:
        return None
    where = {device: shape for shape, _, device in reversed(failure.inputs) if shape}
    met = " and ".join(f"{shape} on {device}" for device, shape in sorted(where.items()))
    return Finding(
        failure.at,
        f"`{failure.text}` gets tensors on different devices: {met}. Create them on the device of the model, "
        "or move them there. The tensors of a loss or a module move with it only if they are parameters or "
        "buffers (`register_buffer`).",
        evidence={"devices": ", ".join(sorted(where)), "torch says": failure.message},
    )


def _devices(failure: Failure) -> set[str]:
    return {device for shape, _, device in failure.inputs if shape}
