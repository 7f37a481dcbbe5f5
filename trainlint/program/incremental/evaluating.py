"""What the rules say of files that belong together."""

from __future__ import annotations

from trainlint.covered import without_covered
from trainlint.facts.model.training import Training
from trainlint.finding import Finding, Problem
from trainlint.judging import judged
from trainlint.program.evaluate.entry_points import Roots
from trainlint.program.evaluate.evaluator import Evaluator
from trainlint.program.incremental.cache import Checked
from trainlint.program.incremental.project_files import Project
from trainlint.program.incremental.results import Ledger
from trainlint.program.source.room import deep, uncollected
from trainlint.reached import Reached
from trainlint.superseded import is_still_wanted


def check_group(
    project: Project, known: Ledger, copies: int = 0, entered: frozenset[str] | None = None
) -> tuple[Checked, Ledger | None]:
    """Evaluate files that belong together, and let every rule look at what happens in them.

    So many copies of this process help. What is known of an entry point is not worked out again. The ledger is that of
    all of them; there is none if what is found follows from more than an outcome tells: from the order in which files
    were evaluated, say.

    Args:
        entered: files whose classes and functions are entered; None for all.
    """
    found: dict[tuple[str, object], Finding] = {}
    problems: dict[Problem, None] = {}
    evaluator = Evaluator(project)

    def judge(training: Training, limited: dict[Reached, None]) -> list[Finding]:
        is_still_wanted()
        found = judged(training, problems)
        limited.update(dict.fromkeys(found.limited))
        return list(found.findings)

    roots = Roots(evaluator, sorted(project.outlines), known, judge, problems, copies, entered)
    with deep(), uncollected():  # values only grow until the group is done
        for one in roots.findings():
            first = found.setdefault((one.code, one.at), one)
            found[one.code, one.at] = first.agreed(one)
    is_whole = not (evaluator.is_tangled or problems or roots.fills_late())
    if known.outcomes and not is_whole:
        return check_group(project, Ledger(), copies, entered)
    if any(known.bodies()) and not roots.saw_all_dicts():
        return check_group(project, known.without_bodies(roots.filled_anew()), copies, entered)
    limited = tuple(one for outcome in roots.ledger.outcomes.values() for one in outcome.limited)
    checked = Checked(
        without_covered(found.values()),
        tuple(problems),
        limited=limited,
        entry_points=len(roots.ledger.outcomes),
    )
    return checked, roots.ledger if is_whole else None
