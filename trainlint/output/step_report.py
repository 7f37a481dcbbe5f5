"""What a recorded step has shown, as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.facts.ask.pictures import cut_on, shown, way_out
from trainlint.facts.model.events import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.masks import MaskSeen
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.pictures import Picture
from trainlint.facts.seen.raised import Warned
from trainlint.facts.seen.ranks import Disagreement
from trainlint.output.printable import printable
from trainlint.output.style import Piece

_MOST_ROWS = 40
_MOST_WARNINGS = 10

Row = tuple[str, ...]


def step_report(run: Recorded, not_checked: Sequence[str]) -> Iterator[Piece]:
    """How the run ended, the gradients by module, updates, masks, and what was not checked."""
    yield from _ending(run)
    yield from _losses(run)
    yield from _gradients(run.facts(ParameterSeen))
    yield from _lost_ways(run.facts(ParameterSeen), run.facts(Picture))
    yield from _masks(run.facts(MaskSeen))
    yield from _unused(run.facts(ModuleSeen), run.facts(ParameterSeen))
    yield from _warnings(run.facts(Warned))
    yield from _disagreements(run.facts(Disagreement))
    if not_checked:
        yield Piece("Not checked\n", "strong")
        for sentence in not_checked:
            yield Piece(f"  {printable(sentence)}\n")
        yield Piece("\n")


def _ending(run: Recorded) -> Iterator[Piece]:
    ending = run.ending
    counts = f"{_count(ending.steps, 'step')}, {_count(ending.backwards, 'backward pass', 'es')}"
    said = {
        "recorded": f"Recorded {counts}",
        "block": f"Recorded {counts}",
        "finished": f"The program ended after {counts}",
        "failed": f"The program failed after {counts}: {ending.error}",
        "interrupted": f"The program was interrupted after {counts}",
        "waited": f"No optimizer stepped in {_count(ending.backwards, 'backward pass', 'es')}, so the program was ended",
        "exited": f"The program ended by os._exit after {counts}",
    }[ending.how]
    yield Piece(printable(said), "strong")
    yield Piece(f" (torch {run.torch}, {ending.seconds:.1f} s)\n")
    if ending.how not in ("recorded", "block") and not ending.trained:
        others = f"; it started {_count(ending.children, 'other process', 'es')}" if ending.children else ""
        yield Piece(
            f"  No training step was recorded: {_count(ending.forwards, 'call')} of models{others}.\n"
        )
    yield Piece("\n")


def _losses(run: Recorded) -> Iterator[Piece]:
    rows: list[Row] = []
    for loss in run.events(LossCall):
        seen = loss.output.seen
        if seen is not None and "value" in seen.numbers and loss.function != "log_softmax":
            row = (loss.name, f"{loss.at.path}:{loss.at.line}", _number(seen.numbers["value"]))
            rows = [one for one in rows if one[:2] != row[:2]] + [row]
    if rows:
        yield from _table("Loss", ("", "at", "value"), rows)


def _gradients(parameters: Sequence[ParameterSeen]) -> Iterator[Piece]:
    """By module, from input to output."""
    modules: dict[str, list[ParameterSeen]] = {}
    last = len(parameters)
    for one in sorted(parameters, key=lambda one: last if one.order is None else one.order):
        modules.setdefault(one.module, []).append(one)
    rows = [_module_row(name, held) for name, held in modules.items()]
    heads = ("module", "parameters", "gradient norm", "zero", "not finite", "no gradient", "update/weight")
    if len(rows) > _MOST_ROWS:
        half = _MOST_ROWS // 2
        left_out = ("…", f"{len(rows) - 2 * half} more", "", "", "", "", "")
        rows = [*rows[:half], left_out, *rows[-half:]]
    if rows:
        yield from _table("Gradients, from input to output", heads, rows)


def _module_row(name: str, held: list[ParameterSeen]) -> Row:
    trained = [one for one in held if one.trainable]
    gradients = [one.gradient for one in trained if one.gradient is not None]
    updates = [one.update for one in trained if one.update is not None]
    norm = sum(one.norm**2 for one in gradients) ** 0.5
    zeros = sum(one.zeros for one in gradients) / len(gradients) if gradients else 0.0
    missing = sum(one.gradient is None for one in trained)
    return (
        name or f"({held[0].module_type})",
        str(len(held)) if trained else "frozen",
        _number(norm) if gradients else "-",
        f"{zeros:.0%}" if gradients else "-",
        str(sum(one.non_finite for one in gradients)) if gradients else "-",
        str(missing) if missing else "",
        _number(sum(updates) / len(updates)) if updates else "-",
    )


def _lost_ways(parameters: Sequence[ParameterSeen], pictures: Sequence[Picture]) -> Iterator[Piece]:
    """For modules that were called and got no gradient, the way from them to the output."""
    lost = [one for one in parameters if one.trainable and one.gradient is None and one.order is not None]
    rows: list[Row] = []
    for module in dict.fromkeys(one.module for one in lost if one.expected):
        ways = [way for picture in pictures if (way := way_out(picture, module))]
        if ways:
            cut = cut_on(ways[0])
            rows.append((module, shown(ways[0]), f"cut by {cut.operation}" if cut is not None else ""))
    if rows:
        yield from _table("Where gradients are lost", ("from", "way", ""), rows[:_MOST_ROWS])


def _masks(masks: Sequence[MaskSeen]) -> Iterator[Piece]:
    rows = [
        (
            f"{one.at.path}:{one.at.line}",
            one.module,
            one.way,
            f"{_shape(one.shape)} {one.dtype}",
            _shape(one.scores),
            f"{one.masked:.0%}",
            f"{one.empty_rows} of {one.rows}" if one.empty_rows else "none",
        )
        for one in dict.fromkeys(masks)
    ]
    if rows:
        heads = ("at", "in", "way", "mask", "on scores", "masked", "fully masked rows")
        yield from _table("Attention masks", heads, rows[:_MOST_ROWS])


def _unused(modules: Sequence[ModuleSeen], parameters: Sequence[ParameterSeen]) -> Iterator[Piece]:
    """Modules that were not called, and whose weights nobody has used past them either."""
    used = {one.module for one in parameters if one.reached}
    unused = [one for one in modules if one.order is None and one.parameters and one.path not in used]
    if unused:
        yield Piece("Modules that the step never called\n", "strong")
        for one in unused[:_MOST_ROWS]:
            yield Piece(f"  {printable(one.path or one.model)} ({printable(one.type)})\n")
        yield Piece("\n")


def _warnings(warned: Sequence[Warned]) -> Iterator[Piece]:
    """What the libraries themselves complained of, at the program's own lines."""
    said = dict.fromkeys((one.at, one.message) for one in warned if one.at is not None)
    if said:
        yield Piece("Warnings\n", "strong")
        for at, message in list(said)[:_MOST_WARNINGS]:
            first = message.strip().splitlines()[0] if message.strip() else ""
            yield Piece(f"  {printable(f'{at.path}:{at.line}: {first}')}\n")
        yield Piece("\n")


def _disagreements(found: Sequence[Disagreement]) -> Iterator[Piece]:
    if found:
        yield Piece("Ranks disagree\n", "strong")
        for one in found:
            at = f" at {one.at.path}:{one.at.line}" if one.at is not None else ""
            about = f" of {one.subject}" if one.subject else ""
            said = "; ".join(f"rank {number}: {text}" for number, text in sorted(one.ranks.items()))
            yield Piece(f"  {printable(f'{one.what}{about}{at}: {said}')}\n")
        yield Piece("\n")


def _table(title: str, heads: Row, rows: Sequence[Row]) -> Iterator[Piece]:
    """Columns as wide as they must be; the first ones to the left, numbers to the right."""
    used = [n for n in range(len(heads)) if any(row[n] for row in rows)]
    clean = [[printable(row[n]) for n in used] for row in rows]
    names = [heads[n] for n in used]
    widths = [max(len(line[n]) for line in [names, *clean]) for n in range(len(used))]
    yield Piece(f"{title}\n", "strong")
    for line in [names, *clean]:
        cells = [
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield Piece(f"  {'  '.join(cells).rstrip()}\n")
    yield Piece("\n")


def _number(value: float) -> str:
    return f"{value:.3g}"


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{plural}"
