"""Two recordings compared: findings, order, losses, data, modules, parameters, masks and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from trainlint.comparing.difference import NONE, Difference, paired
from trainlint.comparing.order import order
from trainlint.facts.ask.loss_lines import LossLine, loss_lines
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.masks import MaskSeen
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Problem
from trainlint.judging import judged
from trainlint.output.words import number, shape

TOPICS = {
    "findings": "Findings",
    "order": "Order of events",
    "losses": "Losses",
    "batch": "Batch",
    "settings": "Settings",
    "modules": "Modules",
    "parameters": "Parameters",
    "masks": "Attention masks",
}
"""The tables of a comparison, those that explain most first."""


def differences(before: Recorded, after: Recorded) -> list[Difference]:
    """What differs, topic by topic; of numbers, the largest differences first."""
    found = [
        *_findings(before, after),
        *_order(before, after),
        *_losses(before, after),
        *paired("batch", _batches(before), _batches(after), _BATCH),
        *_settings(before, after),
        *paired("modules", _modules(before), _modules(after), _MODULE),
        *paired("parameters", _parameters(before), _parameters(after), _PARAMETER),
        *paired("masks", _masks(before), _masks(after), _MASK),
    ]
    topics = list(TOPICS)
    places = {id(one): number for number, one in enumerate(found)}
    return sorted(
        found,
        key=lambda one: (
            topics.index(one.topic),
            -one.size if one.topic in ("modules", "parameters", "masks") else 0.0,
            places[id(one)],
        ),
    )


def _findings(before: Recorded, after: Recorded) -> Iterator[Difference]:
    """What the rules say of one run alone."""
    said = [
        {
            (one.code, one.name, one.subject or ""): one.message
            for one in judged(run, dict[Problem, None]()).findings
        }
        for run in (before, after)
    ]
    for code, name, subject in dict.fromkeys((*said[0], *said[1])):
        there = [(code, name, subject) in one for one in said]
        if there[0] != there[1]:
            first, second = ("found" if one else NONE for one in there)
            yield Difference("findings", subject or "the step", f"{code} {name}", first, second)


def _order(before: Recorded, after: Recorded) -> Iterator[Difference]:
    first, second = order(before), order(after)
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind != "equal":
            where = f"after {first[a - 1]}" if a else "at the beginning"
            yield Difference(
                "order", where, "", ", ".join(first[a:b]) or NONE, ", ".join(second[c:d]) or NONE
            )


def _losses(before: Recorded, after: Recorded) -> Iterator[Difference]:
    """The losses, by their names: lines may have moved."""
    held = [{one.name: one for one in loss_lines(run)} for run in (before, after)]
    yield from paired("losses", held[0], held[1], _LOSS)
    for name in (one for one in held[0] if one in held[1]):
        first, second = held[0][name], held[1][name]
        falls = [one.last < one.values[0][1] for one in (first, second) if len(one.values) > 2]
        if len(falls) == 2 and falls[0] != falls[1]:
            yield Difference("losses", name, "course", _course(first), _course(second))


def _course(line: LossLine) -> str:
    return f"{number(line.values[0][1])} to {number(line.last)}"


def _settings(before: Recorded, after: Recorded) -> Iterator[Difference]:
    yield from paired("settings", _optimizers(before), _optimizers(after), _OPTIMIZER)
    run: dict[str, Callable[[Recorded], str | float | None]] = {
        "arguments": lambda one: " ".join(one.argv[1:]),
        "torch": lambda one: one.torch,
        "ending": lambda one: one.ending.error or one.ending.how,
    }
    yield from paired("settings", {"run": before}, {"run": after}, run)


def _optimizers(run: Recorded) -> dict[str, OptimizerSeen]:
    return {f"optimizer {one.number + 1}": one for one in run.facts(OptimizerSeen)}


def _batches(run: Recorded) -> dict[str, BatchSeen]:
    return {f"{one.role} {one.name} of {one.to}": one for one in reversed(run.facts(BatchSeen))}


def _modules(run: Recorded) -> dict[str, ModuleSeen]:
    return {one.path or one.model: one for one in run.facts(ModuleSeen)}


def _parameters(run: Recorded) -> dict[str, ParameterSeen]:
    return {one.name: one for one in run.facts(ParameterSeen)}


def _masks(run: Recorded) -> dict[str, MaskSeen]:
    return {f"{one.way} in {one.module or 'the program'}": one for one in reversed(run.facts(MaskSeen))}


_LOSS: dict[str, Callable[[LossLine], str | float | None]] = {
    "first value": lambda one: one.values[0][1],
    "last value": lambda one: one.last,
    "classes": lambda one: one.by,
}
_BATCH: dict[str, Callable[[BatchSeen], str | float | None]] = {
    "shape": lambda one: shape(one.shape),
    "data type": lambda one: one.dtype,
    "device": lambda one: one.device,
    "all equal": lambda one: "yes" if one.constant else "no",
    "std": lambda one: one.spread.std if one.spread is not None and one.distinct is None else None,
}
_OPTIMIZER: dict[str, Callable[[OptimizerSeen], str | float | None]] = {
    "class": lambda one: one.type,
    "learning rate": lambda one: ", ".join(dict.fromkeys(map(number, one.learning_rates))),
    "parameters": lambda one: str(one.parameters),
    "skipped steps": lambda one: str(one.skipped),
}
_MODULE: dict[str, Callable[[ModuleSeen], str | float | None]] = {
    "class": lambda one: one.type,
    "calls": lambda one: "called" if one.calls else "never called",
    "mode": lambda one: None if one.training is None else "train" if one.training else "eval",
    "output": lambda one: shape(one.output),
    "output std": lambda one: one.spread.std if one.spread is not None else None,
    "output not finite": lambda one: "yes" if one.spread and one.spread.non_finite else "no",
}
_PARAMETER: dict[str, Callable[[ParameterSeen], str | float | None]] = {
    "shape": lambda one: shape(one.shape),
    "data type": lambda one: one.dtype,
    "device": lambda one: one.device,
    "trainable": lambda one: "yes" if one.trainable else "frozen",
    "in an optimizer": lambda one: "yes" if one.optimizers else "no",
    "gradient norm": lambda one: one.gradient.norm if one.gradient is not None else None,
    "gradient not finite": lambda one: "yes" if one.gradient and one.gradient.non_finite else "no",
    "update/weight": lambda one: one.update if one.gradient is not None else None,
    "initial std": lambda one: one.start.std if one.start is not None else None,
}
_MASK: dict[str, Callable[[MaskSeen], str | float | None]] = {
    "shape": lambda one: shape(one.shape),
    "data type": lambda one: one.dtype,
    "masked": lambda one: f"{one.masked:.0%}",
    "queries without keys": lambda one: str(one.empty_rows),
}
