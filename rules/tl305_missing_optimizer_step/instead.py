"""Schedulers that step where their optimizer should."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.interference import may_step
from trainlint.facts.ask.stepped import same_parameters
from trainlint.facts.model.events.steps import Backward, OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding


def stepped_instead(training: Training) -> Iterator[Finding]:
    """`if args.schedule: scheduler.step()`, `else: optimizer.step()`: under that setting the optimizer never steps."""
    for event in training.events(SchedulerStep):
        steps = [
            one for one in training.events(OptimizerStep) if same_parameters(event.optimizer, one.optimizer)
        ]
        if (
            steps
            and event.loops
            and not all(
                training.never_together(event, one) for one in training.inside(event.loops[-1], Backward)
            )
            and all(training.never_together(event, one) for one in steps)
            and not may_step(training, event.optimizer, event.loops[-1])
        ):
            yield Finding(
                event.at,
                "The scheduler steps here in the place of its optimizer: with this setting, the optimizer never steps, so "
                "its parameters never change. Call `step()` of the optimizer in both cases.",
                (Because(steps[0].at, "the optimizer only steps with the other setting"),),
                is_shown_by_runs=False,
            )
