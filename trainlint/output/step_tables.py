"""Rows of the tables that show a recorded step: losses, gradients by module, masks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trainlint.facts.seen.losses import LossSeen
from trainlint.facts.seen.masks import MaskSeen
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.output.in_order import in_order

Row = tuple[str, ...]

MOST_ROWS = 40
_MOST_STEPS = 6
_FEWEST_ALIKE = 3
_FAR = 100.0
"""How far from the others of its kind a gradient norm or update stands out."""


def loss_rows(losses: Sequence[LossSeen]) -> list[Row]:
    """A row for each loss and place: its first value of each step, and what guessing gives."""
    values: dict[tuple[str, str], dict[int, LossSeen]] = {}
    for one in losses:
        values.setdefault((one.name, f"{one.at.path}:{one.at.line}"), {}).setdefault(one.step, one)
    rows: list[Row] = []
    for (name, at), by_step in values.items():
        seen = list(by_step.values())
        shown = [number(one.value) for one in seen]
        if len(shown) > _MOST_STEPS:
            half = _MOST_STEPS // 2
            shown = [*shown[:half], "…", *shown[-half:]]
        first = seen[0]
        guess = f"{number(first.guessing)} ({first.guess})" if first.guessing is not None else ""
        rows.append((name, at, " ".join(shown), guess))
    return rows


def number(value: float) -> str:
    return f"{value:.3g}"


_NUMBERED = re.compile(r"(?<![\w#])[0-9]+(?!\w)")
"""The number of a module in a list."""


@dataclass
class _Line:
    """One module, or several alike, in the table of gradients."""

    name: str
    held: list[ParameterSeen]
    norms: list[float] = field(default_factory=list)
    updates: list[float] = field(default_factory=list)
    count: int = 1

    @property
    def oddities(self) -> tuple[bool, ...]:
        """What of it asks for a look: gradients that are missing, not finite or zero, and weights that did not change."""
        trained = [one for one in self.held if one.trainable]
        gradients = [one.gradient for one in trained if one.gradient is not None]
        return (
            len(gradients) < len(trained),
            any(one.non_finite for one in gradients),
            any(one.zeros == 1.0 for one in gradients),
            any(bool(one.unchanged) for one in trained),
            0 < len(trained) < len(self.held),
        )

    @property
    def stands_out(self) -> bool:
        return any(self.oddities)


def gradient_rows(parameters: Sequence[ParameterSeen], modules: Sequence[ModuleSeen]) -> list[Row]:
    """By module, from input to output. Modules alike are one row, where there are many; none that stands out is left out."""
    titles = _titles(parameters, modules)
    lines: dict[tuple[int, str], _Line] = {}
    for one in in_order(parameters):
        alone = not one.module_type
        key = (one.model, one.name if alone else one.module)
        name = one.name if alone else one.module or f"({one.module_type})"
        line = lines.setdefault(key, _Line(f"{titles.get(one.model, '')}{name}", []))
        line.held.append(one)
    for line in lines.values():
        gradients = [one.gradient for one in line.held if one.trainable and one.gradient is not None]
        line.norms = [sum(one.norm**2 for one in gradients) ** 0.5] if gradients else []
        line.updates = [one.update for one in _weights(line.held) if one.update is not None]
    found = list(lines.values())
    if len(found) > MOST_ROWS:
        found = _cut(_folded(found))
    return [_row(line) for line in found]


def _titles(parameters: Sequence[ParameterSeen], modules: Sequence[ModuleSeen]) -> dict[int, str]:
    """What to put before the names of each model's modules, where there are several models."""
    models = sorted({one.model for one in parameters if one.module_type})
    if len(models) < 2:
        return {}
    types = {one.number: one.type.rpartition(".")[2] for one in modules if not one.path}
    often = Counter(types.get(model, "model") for model in models)
    seen: Counter[str] = Counter()
    titles = {}
    for model in models:
        kind = types.get(model, "model")
        seen[kind] += 1
        titles[model] = f"{kind}#{seen[kind]}: " if often[kind] > 1 else f"{kind}: "
    return titles


def _weights(held: Sequence[ParameterSeen]) -> list[ParameterSeen]:
    """The weights of a module without its biases; all of it where it has none."""
    return [one for one in held if "bias" not in one.name.rpartition(".")[2]] or list(held)


def _starts_at_zero(one: ParameterSeen) -> bool:
    return one.start is not None and one.start.smallest == one.start.largest == 0


def _folded(lines: list[_Line]) -> list[_Line]:
    """Modules that differ by a number in their names alone become one line, where they are close to each other."""
    kinds: dict[tuple[object, ...], list[_Line]] = {}
    for line in lines:
        kinds.setdefault(_kind(line), []).append(line)
    near = {kind: [one for one in alike if _is_near(one, alike)] for kind, alike in kinds.items()}
    folded: list[_Line] = []
    for line in lines:
        alike = near[_kind(line)]
        if len(alike) < _FEWEST_ALIKE or not any(one is line for one in alike):
            folded.append(line)
        elif line is alike[0]:
            folded.append(
                _Line(
                    f"{_NUMBERED.sub('*', line.name)} ({len(alike)} alike)",
                    line.held,
                    [norm for one in alike for norm in one.norms],
                    [update for one in alike for update in one.updates],
                    len(alike),
                )
            )
    return folded


def _kind(line: _Line) -> tuple[object, ...]:
    shapes = tuple(one.shape for one in line.held)
    return _NUMBERED.sub("*", line.name), shapes, line.oddities


def _is_near(line: _Line, others: Sequence[_Line]) -> bool:
    """Whether nothing of a line is far from the middle of its kind."""
    for values, own in (
        (sorted(one for line in others for one in line.norms), line.norms),
        (sorted(one for line in others for one in line.updates), line.updates),
    ):
        middle = values[len(values) // 2] if values else 0.0
        if any(not middle / _FAR <= one <= middle * _FAR for one in own):
            return False
    return True


def _cut(lines: list[_Line]) -> list[_Line]:
    """The first and the last, and between them those that stand out."""
    if len(lines) <= MOST_ROWS:
        return lines
    half = MOST_ROWS // 2
    middle = lines[half:-half]
    kept = [one for one in middle if one.stands_out]
    left_out = [_Line(f"… {len(middle) - len(kept)} more", [])] if len(kept) < len(middle) else []
    return [*lines[:half], *kept, *left_out, *lines[-half:]]


def _row(line: _Line) -> Row:
    held = line.held
    if not held:
        return (line.name, "", "", "", "", "", "")
    trained = [one for one in held if one.trainable]
    gradients = [one.gradient for one in trained if one.gradient is not None]
    zeros = sum(one.zeros for one in gradients) / len(gradients) if gradients else 0.0
    missing = sum(one.gradient is None for one in trained)
    at_zero = " (starts at 0)" if any(map(_starts_at_zero, _weights(held))) else ""
    return (
        line.name,
        str(len(held) * line.count) if trained else "frozen",
        _range(line.norms) if gradients else "-",
        f"{zeros:.0%}" if gradients else "-",
        str(sum(one.non_finite for one in gradients)) if gradients else "-",
        str(missing) if missing else "",
        f"{_range(line.updates) if line.updates else '-'}{at_zero}",
    )


def _range(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def mask_rows(masks: Sequence[MaskSeen], uses: Mapping[tuple[str, int], int]) -> list[Row]:
    """A row for each kind of mask, with how often it was met at its place."""
    often = Counter(f"{one.at.path}:{one.at.line}" for one in dict.fromkeys(masks))
    rows: list[Row] = []
    for one in dict.fromkeys(masks):
        at = f"{one.at.path}:{one.at.line}"
        met = uses.get((one.at.path, one.at.line), 0)
        rows.append(
            (
                at,
                one.module,
                one.way,
                f"{shape(one.shape)} {one.dtype}",
                shape(one.scores),
                f"{one.masked:.0%}",
                f"{one.empty_rows} of {one.rows}" if one.empty_rows else "none",
                f"{met} masks here" if met > often[at] else "",
            )
        )
    return rows


def shape(sizes: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, sizes))}]"
