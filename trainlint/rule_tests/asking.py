"""What a rule says of its own examples, read as source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from trainlint.check.analysis import Analysis, Source, analyse
from trainlint.finding import Finding
from trainlint.fixing.rounds import Check, fixed
from trainlint.project.source_texts import SourceTexts
from trainlint.project.target import target_near
from trainlint.report import Report
from trainlint.rule_tests.marks import Mark, misfits, page_marks, unmarked
from trainlint.rule_tests.pages import FIX, Block, blocks
from trainlint.rules import Entry


def written(block: Block, folder: Path) -> dict[Path, list[Mark]]:
    """The files of an example in a folder, each with its marks."""
    marked: dict[Path, list[Mark]] = {}
    for name, text in block.files():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        marked[file] = list(page_marks(text, block.entry.code))
    return marked


def checked(*files: Path) -> Analysis:
    """What all rules find in files of one folder."""
    return analyse([Source(str(file)) for file in files], concerns=target_near(files[0].parent).concerns)


def wrong_with_example(
    block: Block, marked: Mapping[Path, list[Mark]], findings: Iterable[Finding]
) -> Iterator[str]:
    """Lines that are marked and not found, found and not marked, or found otherwise than marked."""
    own = [one for one in findings if one.code == block.entry.code]
    found = {(Path(one.at.path), one.at.line) for one in own}
    wanted = {(file, mark.line) for file, here in marked.items() for mark in here}
    for file, line in sorted(wanted ^ found):
        said = "marked, and not found" if (file, line) in wanted else "found, and not marked"
        text = file.read_text(encoding="utf-8").splitlines()[line - 1].strip()
        yield f"README.md:{block.line}: under `{block.section}`: `{text}` is {said}"
    for file, here in marked.items():
        for mark in misfits(here, (one for one in own if Path(one.at.path) == file)):
            if (file, mark.line) in found:
                yield f"README.md:{block.line}: under `{block.section}`: line {mark.line} is found otherwise than marked"


def wrong_with_pair(entry: Entry) -> Iterator[str]:
    """Whether `bad.py` is found, and `good.py` is not."""
    bad, good = (checked(entry.folder / name) for name in ("bad.py", "good.py"))
    for name, said in (("bad.py", bad), ("good.py", good)):
        yield from (f"{name}: {problem.message}" for problem in said.problems)
    levels = {one.level for one in bad.findings if one.code == entry.code}
    if entry.rule.by != "T" and entry.rule.level not in levels:
        yield f"bad.py: there is no finding of {entry.code} of level {entry.rule.level}"
    for one in good.findings:
        if one.level != "info" or one.code == entry.code:
            yield f"good.py:{one.at.line}: {one.code}: {one.message}"


def wrong_with_fix(entry: Entry) -> Iterator[str]:
    """Whether the page shows what the fix does, and the fix mends `bad.py` and adds nothing."""
    if not entry.is_fixable:
        return
    found = list(blocks(entry))
    results = []
    for block in found:
        if block.section == "Example":
            files = {name: unmarked(text) for name, text in block.files()}
            fixing = fixed(check_for(entry, files), unsafe=True, writes=False)
            yield from (f"README.md:{block.line}: {problem.message}" for problem in fixing.report.problems)
            results.append({name: fixing.texts.raw(name).decode() for name in files})
    for block in found:
        if block.section == FIX and {name: unmarked(text) for name, text in block.files()} not in results:
            yield f"README.md:{block.line}: under `{FIX}`: this is no example of the page as it is fixed"
    files = {"bad.py": (entry.folder / "bad.py").read_text(encoding="utf-8")}
    before, _ = check_for(None, files)({})
    result = fixed(check_for(entry, files), unsafe=True, writes=False)
    if "bad.py" not in result.files or not result.files["bad.py"].counts[entry.code]:
        yield "bad.py: the fix changes nothing"
        return
    left = [one.message for one in result.report.findings]
    for message in (*left, *(problem.message for problem in result.report.problems)):
        yield f"bad.py: after the fix: {message}"
    after, _ = check_for(None, {"bad.py": result.files["bad.py"].after.decode()})({})
    new = Counter(one.code for one in after.findings) - Counter(one.code for one in before.findings)
    if new:
        yield f"bad.py: the fix leads to {', '.join(new)}"


def check_for(entry: Entry | None, files: Mapping[str, str]) -> Check:
    """Checks files for one rule, or for all."""

    def check(texts: Mapping[str, bytes]) -> tuple[Report, SourceTexts]:
        given = {name: text.encode() for name, text in files.items()} | dict(texts)
        found = analyse([Source(name, given[name]) for name in files])
        wanted = tuple(one for one in found.findings if entry is None or one.code == entry.code)
        return Report(wanted, found.problems, len(files), 0.0), SourceTexts(given)

    return check
