from collections.abc import Iterator

from trainlint.facts.recorded import Recorded
from trainlint.facts.step import BatchSeen, Failure, OptimizerSeen, ParameterSeen
from trainlint.finding import Finding
from trainlint.rule import rule

_SAID = (
    "Expected all tensors to be on the same device",
    "is not on the expected device",
    "weight type (torch.cuda",
    "Input type (torch.cuda",
    "or on the same device as the indexed tensor",
)


@rule(Recorded, level="error", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
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
    """An optimizer whose state was made on another device than its parameters are on now."""
    for optimizer in recorded.facts(OptimizerSeen):
        homes = {one.device for one in recorded.facts(ParameterSeen) if optimizer.number in one.optimizers}
        strange = [one for one in optimizer.state_devices if one not in homes]
        if optimizer.at is not None and homes and strange:
            return Finding(
                optimizer.at,
                f"The state of this optimizer is on {' and '.join(strange)}, and its parameters are on "
                f"{' and '.join(sorted(homes))}, so its step raises. Move the model first, and build the optimizer or load "
                "its state afterwards.",
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
                f"The batch is on {one.device}, and `{one.to}` is on {home}. Move both to the same device before the "
                f"call: `.to(device)` of a tensor gives a new tensor, which has to be kept.",
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
        f"`{failure.text}` is given tensors on different devices: {met}. Make or move them where the model is. "
        "Tensors of a loss or a module move with it only as parameters or buffers (`register_buffer`).",
        evidence={"devices": ", ".join(sorted(where)), "torch says": failure.message},
    )


def _devices(failure: Failure) -> set[str]:
    return {device for shape, _, device in failure.inputs if shape}
