"""One recorded step of a changed program, in a process that has torch and the frameworks already: started once, forked for
each. Standard input holds one job a line, as JSON; the answer is a line with the codes that a run confirms or observes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def main() -> None:
    import torch

    torch.set_num_threads(1)
    import accelerate  # noqa: F401
    import datasets  # noqa: F401
    import lightning  # noqa: F401
    import peft  # noqa: F401
    import torchmetrics  # noqa: F401
    import transformers  # noqa: F401

    sys.path.insert(0, str(HERE))
    sys.path.append(str(HERE.parent / "detection" / "shims"))
    import stand_ins

    stand_ins.install()
    print("ready", flush=True)
    in_child = _serve()
    if in_child is not None:  # not inside of the loop over jobs, which is none of the program's
        _run(*in_child)


Child = tuple[Path, Path, Path, dict[str, Any]]


def _serve() -> Child | None:
    """Answer job after job; in the child of each, hand back what it is to run."""
    for line in sys.stdin:
        job = json.loads(line)
        folder = Path(tempfile.mkdtemp(prefix="framework"))
        child = _prepared(folder, job)
        number = os.fork()
        if number == 0:
            return child
        print(json.dumps(_answer(number, *child)), flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    return None


def _prepared(folder: Path, job: dict[str, Any]) -> Child:
    for file, text in job["files"].items():
        (folder / file).write_text(text)
    return folder, folder / "out.trace", folder / "log.txt", job


def _answer(number: int, folder: Path, trace: Path, log: Path, job: dict[str, Any]) -> dict[str, Any]:
    signal.signal(signal.SIGALRM, lambda *_: os.kill(number, signal.SIGKILL))
    signal.alarm(job.get("seconds", 300))
    os.waitpid(number, 0)
    signal.alarm(0)
    said = log.read_text(errors="replace")[-600:] if log.exists() else ""
    if not trace.exists():
        return {"codes": [], "how": "nothing", "error": said}
    return _judged(folder, trace)


def _run(folder: Path, trace: Path, log: Path, job: dict[str, Any]) -> None:
    from trainlint.trace.launch.launch import main as launched

    os.chdir(folder)
    out = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(out, 1)
    os.dup2(out, 2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    target = os.path.join(folder, job["script"])
    sys.path[0] = os.path.dirname(target)
    said = [str(trace), str(folder / "status"), "2", "100", "0", "1", "0", "", "10", "script", target]
    with contextlib.suppress(BaseException):  # its end is in the recording
        launched([*said, *job["arguments"]])
    sys.stdout.flush()
    os._exit(0)


def _judged(folder: Path, trace: Path) -> dict[str, Any]:
    from trainlint.run.running import RunRequest, run

    before = os.getcwd()
    os.chdir(folder)
    try:
        report, _, _ = run(RunRequest(None, from_trace=trace, cached=False, jobs=1), lambda _: None)
    except BaseException as error:
        return {"codes": [], "how": f"unreadable: {error!r}"}
    finally:
        os.chdir(before)
    ended = report.run.ended if report.run is not None else None
    codes = sorted(
        {(one.code, str(one.level)) for one in report.findings if one.verdict in ("confirmed", "observed")}
    )
    return {"codes": codes, "how": getattr(ended, "how", "?"), "error": getattr(ended, "error", "")}


if __name__ == "__main__":
    main()
