"""Programs that are recorded in the process of the tests: torch is imported once for all of them."""

from __future__ import annotations

import linecache
import random
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from trainlint.check.analysis import Source, analyse
from trainlint.check.verdict import joined
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.blind_spots import Missed
from trainlint.finding import Finding, Place, Problem
from trainlint.judging import judged
from trainlint.trace.launch.stop import Stop


def recorded(script: Path, steps: int = 1) -> Recorded:
    """What a script does until its steps are recorded, it ends, or it raises. Paths are seen from its folder."""
    import torch

    from trainlint.trace.launch.session import Session
    from trainlint.trace.measure.experiments.all import experiments
    from trainlint.trace.measure.picture import pictures

    def ended(_: str) -> None:
        raise Stop

    linecache.checkcache()
    main = types.ModuleType("__main__")
    main.__file__ = str(script)
    how, at, said = "finished", None, ""
    state = random.getstate(), torch.get_rng_state()
    with _as_main(main, script):
        session = Session(steps=steps, root=str(script.parent), ended=ended)
        try:
            exec(compile(script.read_bytes(), str(script), "exec", dont_inherit=True), main.__dict__)
        except Stop:
            how = session.recorder.how
        except Exception as error:
            how, said = "failed", f"{type(error).__name__}: {error}"
            traceback = error.__traceback__
            while traceback is not None:
                if traceback.tb_frame.f_code.co_filename == str(script):
                    at = Place(str(script), traceback.tb_lineno, 1, traceback.tb_lineno, 1)
                traceback = traceback.tb_next
        finally:
            session.recorder.is_on = False
            extra: list[object] = []
            if how != "failed":
                extra = [*experiments(session.recorder), *pictures(session.recorder)]
            session.close()
        run = session.facts(how, error=said, at=at, extra=extra)
    random.setstate(state[0])
    torch.set_rng_state(state[1])
    torch.set_grad_enabled(True)
    return replace(run, lines=frozenset(one for one in run.lines if _is_beside(one[0], script)))


@contextmanager
def _as_main(main: types.ModuleType, script: Path) -> Iterator[None]:
    kept, path = sys.modules["__main__"], list(sys.path)
    sys.modules["__main__"] = main
    sys.path.insert(0, str(script.parent))
    own = set(sys.modules)
    try:
        yield
    finally:
        sys.modules["__main__"], sys.path[:] = kept, path
        for name in set(sys.modules) - own:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).is_relative_to(script.parent):
                del sys.modules[name]


def findings_of_run(script: Path, steps: int = 1) -> list[Finding]:
    """What the source and one run of it together say, with verdicts."""
    run = recorded(script, steps)
    assert not run.facts(Missed), run.facts(Missed)
    problems: dict[Problem, None] = {}
    ran = judged(run, problems)
    assert not problems, problems
    files = sorted({path for path, _ in run.lines} | {str(script)})
    read = analyse([Source(path) for path in files]).findings
    return joined(read, ran, run)


def _is_beside(path: str, script: Path) -> bool:
    """Whether a file belongs to the script, and not to the tests that run it."""
    return Path(path).is_file() and Path(path).resolve().is_relative_to(script.parent.resolve())
