"""Every limit of the analysis, and why it stands where it does. What reaches one is listed by `check --verbose`."""

from __future__ import annotations

QUESTION_STEPS = 400_000
"""Questions that one rule may ask of the values of one entry point, parts of values included. The costliest rule on
any entry point of pytorch-image-models asks 40,000; beyond ten times that, the rule says nothing of the entry point."""

FRAMES = 8_000
"""Frames of Python that may stand on each other: a few for each call, each nested expression, and each question that
waits for another. `program/source/room.py` makes room for them."""

QUESTION_DEPTH = 300
"""Questions that may wait for each other before the innermost is asked on its own first: eight frames each, which is a
third of what there is."""

QUESTION_RESTARTS = 2_000
"""How often an answer may wait for one that has to be asked on its own first, before it counts as unknown: chains of
300 times as many operations are followed to their end."""

CYCLE_ITERATIONS = 12
"""How often the values of a cycle are asked again until their answers stay the same. Answers that only ever grow need
as many as there are different answers, which for all present questions is below six."""

WAYS = 64
"""Ways, each under conditions of its own, in which a device or a type may come about before it counts as unknown: they
multiply where one choice is made of others. A value has at most `MAX_OPTIONS` of them, and two in one expression are
already rare."""
