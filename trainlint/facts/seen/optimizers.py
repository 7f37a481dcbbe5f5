"""The optimizers of a run."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class OptimizerSeen:
    """An optimizer.

    Args:
        at: where it is made.
        step_at: where it stepped first; None if it never did.
        learning_rates: one for each parameter group.
        parameters: how many parameters it holds.
        elsewhere: how many of them belong to no module that the recorded step called.
        skipped: steps that a scaler left out because of non-finite gradients.
        state_devices: devices of its state.
        idle: how many of them had no gradient at its first step.
        before: steps that it took before the recording.
        base_rates: what schedulers start from, one for each parameter group.
        stays_at_0: a schedule gives 0 for each group now, and will for its next steps.
    """

    number: int
    type: str
    at: Place | None
    step_at: Place | None
    steps: int
    learning_rates: tuple[float, ...]
    parameters: int
    elsewhere: int
    skipped: int = 0
    state_devices: tuple[str, ...] = ()
    idle: int = 0
    base_rates: tuple[float, ...] = ()
    before: int = 0
    stays_at_0: bool = False
