"""The module tree: what each module gives, how large its gradients and updates are, and what stands out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.html_report.heat import UPDATES, Heat
from trainlint.html_report.markup import Content, Html, joined, tag
from trainlint.html_report.panel import Panel
from trainlint.html_report.tree import Block, Branch, blocks, trees
from trainlint.output.words import count, number, seconds, shape, share

_MOST_OPEN = 40
"""Rows that are open from the start where nothing stands out."""

_HEADS = ("module", "output", "mean ± std", "gradient norm", "update/weight", "time", "")


def modules_panel(run: Recorded) -> Panel | None:
    roots = trees(run)
    if not roots:
        return None
    heat = Heat.of(branch.gradient for root in roots for branch in _all(root) if not branch.children)
    head = tag("div", [tag("span", one) for one in _HEADS], class_="heads", aria_hidden="true")
    flagged = sum(one.flagged for one in roots)
    total = sum(1 for root in roots for _ in _all(root))
    body = joined(
        tag(
            "p",
            "From input to output. Equal blocks are one row, with the smallest and the largest number; what stands out "
            "is never folded away. Darker is larger. Updates of about 0.001 of the weight in a step are usual.",
            class_="dim",
        ),
        tag(
            "div", head, [_block(Block((root,)), heat, total <= _MOST_OPEN) for root in roots], class_="tree"
        ),
    )
    note = f"{flagged} stand out" if flagged else count(total, "module")
    return Panel("modules", "Modules", body, note, alarming=bool(flagged))


def _all(branch: Branch) -> Iterator[Branch]:
    yield branch
    for one in branch.children:
        yield from _all(one)


def _block(block: Block, heat: Heat, is_open: bool) -> Html:
    """One row, and what is in it."""
    first = block.branches[0]
    row = _row(block, heat)
    if len(block.branches) > 1:
        inner = joined(*(_block(Block((one,)), heat, False) for one in block.branches))
        return tag("details", tag("summary", row), inner)
    children = joined(*(_block(one, heat, is_open) for one in blocks(first.children)))
    inside = joined(_parameters(first.parameters), children)
    if not inside:
        return tag("div", row, class_="leaf")
    stands_out = any(one.flagged for one in first.children)
    opened = stands_out or (is_open and bool(first.children)) or not first.path
    return tag("details", tag("summary", row), inside, open=opened)


def _row(block: Block, heat: Heat) -> Html:
    module = block.branches[0].module
    many = len(block.branches) > 1
    kind = module.type.rpartition(".")[2] if module is not None else ""
    spread = module.spread if module is not None and not many else None
    gradients = [one.gradient for one in block.branches]
    updates = [one.update for one in block.branches]
    taken = [one.seconds for one in block.branches if one.seconds is not None]
    cells = (
        tag("b", block.name),
        tag("small", f"{len(block.branches)} {kind}" if many else kind) if kind != block.name else None,
        _value("output", shape(module.output) if module is not None else ""),
        _value("mean and std", f"{number(spread.mean)} ± {number(spread.std)}" if spread is not None else ""),
        _value("gradient norm", _range(gradients), heat.shade(_largest(gradients))),
        _value("update/weight", _range(updates), UPDATES.shade(_largest(updates))),
        _value("time", seconds(sum(taken)) if taken else ""),
        _badges(block),
    )
    return joined(tag("span", cells[:2], class_="name"), cells[2:])


def _value(name: str, value: str, heat: str = "") -> Html:
    """A number, with its name for those who hear it."""
    return tag("span", tag("i", f" {name} ") if value else None, value, class_=heat or None)


def _badges(block: Block) -> Html:
    first = block.branches[0]
    inside = sum(one.flagged for one in block.branches) - bool(first.flags) * len(block.branches)
    shown: list[Content] = [tag("em", _flag(first, one), class_="badge bad") for one in first.flags]
    if inside:
        shown.append(tag("em", f"{inside} in it", class_="badge odd"))
    return tag("span", shown)


def _flag(branch: Branch, flag: str) -> str:
    module = branch.module
    if flag == "dead units" and module is not None:
        return f"{share(module.dead)} of units dead"
    if flag == "saturated" and module is not None:
        return f"{share(module.saturated)} saturated"
    return flag


def _parameters(held: Iterable[ParameterSeen]) -> Html | None:
    rows = [tag("li", tag("b", one.name.rpartition(".")[2]), f" {_told(one)}") for one in held]
    return tag("ul", rows) if rows else None


def _told(one: ParameterSeen) -> str:
    """A parameter in a line."""
    parts = [f"{shape(one.shape)} {one.dtype}"]
    if one.start is not None:
        parts.append(f"starts at {number(one.start.mean)} ± {number(one.start.std)}")
    if not one.trainable:
        return "; ".join([*parts, "frozen"])
    if one.gradient is None:
        parts.append("no gradient")
    else:
        zeros = f", {share(one.gradient.zeros)} zero" if one.gradient.zeros else ""
        parts.append(f"gradient norm {number(one.gradient.norm)}{zeros}")
    if one.update is not None and one.gradient is not None:
        parts.append(f"update/weight {number(one.update)}")
    elif one.start is not None and not one.start.std and not one.start.mean:
        parts.append("starts at zero, so an update has no ratio")
    if not one.optimizers:
        parts.append("in no optimizer")
    return "; ".join(parts)


def _range(values: Iterable[float | None]) -> str:
    kept = sorted({number(one): one for one in values if one is not None}.items(), key=lambda item: item[1])
    if not kept:
        return ""
    return kept[0][0] if len(kept) == 1 else f"{kept[0][0]} \u2013 {kept[-1][0]}"


def _largest(values: Iterable[float | None]) -> float | None:
    return max((one for one in values if one is not None), default=None)
