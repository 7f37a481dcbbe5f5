"""What a recorded step has shown, as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.facts.ask.pictures import cut_on, shown, way_out
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.endings import Ending, NotWritten
from trainlint.facts.seen.history import HEADS, Milestone, began_between
from trainlint.facts.seen.losses import LossSeen
from trainlint.facts.seen.masks import MaskSeen, MasksMet
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.pictures import Picture
from trainlint.facts.seen.probes import Probe
from trainlint.facts.seen.raised import Warned
from trainlint.facts.seen.ranks import Disagreement
from trainlint.facts.seen.tried import VERDICTS, Tried
from trainlint.output import words
from trainlint.output.printable import printable
from trainlint.output.step_tables import MOST_ROWS, Row, gradient_rows, loss_rows, mask_rows
from trainlint.output.style import Piece

_MOST_WARNINGS = 10


def step_report(run: Recorded, not_checked: Sequence[str]) -> Iterator[Piece]:
    """How the run ended, the gradients by module, updates, masks, and what was not checked; by phase, if it has several."""
    for number, phase in enumerate(run.phases, 1):
        if run.later:
            yield Piece(f"Phase {number}{_built(phase)}\n", "strong")
        yield from _phase(phase)
    if not_checked:
        yield Piece("Not checked\n", "strong")
        for sentence in not_checked:
            yield Piece(f"  {printable(sentence)}\n")
        yield Piece("\n")


def _built(run: Recorded) -> str:
    """The optimizer of a phase, and where it is built."""
    seen = [one for one in run.facts(OptimizerSeen) if one.steps]
    named = (
        f"{one.type.rpartition('.')[2]} at {one.at.path}:{one.at.line}" for one in seen if one.at is not None
    )
    found = ", ".join(dict.fromkeys(named))
    return f": {printable(found)}" if found else ""


def _phase(run: Recorded) -> Iterator[Piece]:
    yield from _ending(run)
    yield from _losses(run.facts(LossSeen))
    yield from _history(run.facts(Milestone))
    yield from _gradients(run.facts(ParameterSeen), run.facts(ModuleSeen))
    yield from _lost_ways(run.facts(ParameterSeen), run.facts(Picture))
    yield from _masks(run.facts(MaskSeen), run.facts(MasksMet))
    yield from _passed(run.facts(Probe))
    yield from _tried(run.facts(Tried))
    yield from _unused(run.facts(ModuleSeen), run.facts(ParameterSeen))
    yield from _warnings(run.facts(Warned))
    yield from _disagreements(run.facts(Disagreement))
    yield from _not_written(run.facts(NotWritten))


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
        yield Piece(f"  No training step was recorded: {_calls(ending)}{others}.\n")
    yield Piece("\n")


def _calls(ending: Ending) -> str:
    """How models were called in a program that took no step."""
    if ending.unrecorded and not ending.forwards:
        return (
            f"{_count(ending.unrecorded, 'call')} of models ran without gradients, as under `torch.no_grad()`"
        )
    return f"{_count(ending.forwards, 'call')} of models"


def _losses(losses: Sequence[LossSeen]) -> Iterator[Piece]:
    rows = loss_rows(losses)
    if rows:
        steps = len({one.step for one in losses})
        heads = ("", "at", "value" if steps == 1 else "by step", "guessing gives")
        yield from _table("Loss", heads, rows)


def _history(held: Sequence[Milestone]) -> Iterator[Piece]:
    """The recorded steps of a long run."""
    if len(held) < 2:
        return
    rows = [
        (
            str(one.step),
            *(_number(value) for value in (one.loss, one.gradient)),
            str(one.non_finite or ""),
            *(_number(value) for value in (one.weight, one.rate)),
            one.largest,
        )
        for one in held[-MOST_ROWS:]
    ]
    began = began_between(held)
    yield from _table(f"Recorded steps{f': {began}' if began else ''}", HEADS, rows)


def _number(value: float | None) -> str:
    return words.number(value) if value is not None else ""


def _gradients(parameters: Sequence[ParameterSeen], modules: Sequence[ModuleSeen]) -> Iterator[Piece]:
    """By module, from input to output."""
    rows = gradient_rows(parameters, modules)
    heads = ("module", "parameters", "gradient norm", "zero", "not finite", "no gradient", "update/weight")
    if rows:
        yield from _table("Gradients, from input to output", heads, rows)


def _lost_ways(parameters: Sequence[ParameterSeen], pictures: Sequence[Picture]) -> Iterator[Piece]:
    """For modules that were called and got no gradient, the way from them to the output."""
    lost = [one for one in parameters if one.trainable and one.gradient is None and one.order is not None]
    rows: list[Row] = []
    for module in dict.fromkeys(one.module for one in lost if one.expected):
        ways = [way for picture in pictures if (way := way_out(picture, module))]
        if module and ways and shown(ways[0]):
            cut = cut_on(ways[0])
            rows.append((module, shown(ways[0]), f"cut by {cut.operation}" if cut is not None else ""))
    if rows:
        yield from _table("Where gradients are lost", ("from", "way", ""), rows[:MOST_ROWS])


def _masks(masks: Sequence[MaskSeen], met: Sequence[MasksMet]) -> Iterator[Piece]:
    rows = mask_rows(masks, {(one.at.path, one.at.line): one.times for one in met})
    if rows:
        heads = ("at", "in", "way", "mask", "on scores", "masked", "fully masked rows", "in all")
        yield from _table("Attention masks", heads, rows[:MOST_ROWS])


def _passed(probes: Sequence[Probe]) -> Iterator[Piece]:
    """Experiments that found nothing wrong."""
    said = {
        "causal": "no output depends on later inputs",
        "batch": "no sample depends on the others of its batch",
        "repeat": "the same call from the same seed gives the same",
    }
    passed = [one for one in probes if not one.leaked and one.kind in said]
    if passed:
        yield Piece("Tried and passed\n", "strong")
        for one in passed:
            yield Piece(f"  {printable(one.model)}: {said[one.kind]}\n")
        yield Piece("\n")


def _tried(probes: Sequence[Tried]) -> Iterator[Piece]:
    """Probes that somebody asked for."""
    if probes:
        yield Piece("Probes, on copies of the model\n", "strong")
        for one in probes:
            yield Piece(f"  {printable(one.name)}: ")
            yield Piece(VERDICTS.get(one.verdict, one.verdict), "error" if one.verdict == "failed" else "")
            yield Piece(f" {printable(one.said)}\n")
        yield Piece("\n")


def _unused(modules: Sequence[ModuleSeen], parameters: Sequence[ParameterSeen]) -> Iterator[Piece]:
    """Modules that were not called, and whose weights nobody has used past them either."""
    used = {one.module for one in parameters if one.reached}
    unused = [one for one in modules if one.order is None and one.parameters and one.path not in used]
    if unused:
        yield Piece("Modules that the step never called\n", "strong")
        for one in unused[:MOST_ROWS]:
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


def _not_written(files: Sequence[NotWritten]) -> Iterator[Piece]:
    if files:
        yield Piece("Not written, because the program was being ended\n", "strong")
        for one in files[:MOST_ROWS]:
            yield Piece(f"  {printable(one.path)}\n")
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


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{plural}"
